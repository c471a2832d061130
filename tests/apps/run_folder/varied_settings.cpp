#include "apps/run_folder/varied_settings.hpp"

#include "apps/workload/parse.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

namespace {

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the settings of models are those keys whose values differ, as they were written") {
  const auto varied =
      varied_in(parse_toml("[[model]]\nname = \"a\"\nbatch_size = 4\nsteps = 60\n"
                           "optimizer = { kind = \"adamw\", learning_rate = 1e-4 }\n"
                           "[[model]]\nname = \"b\"\nbatch_size = 8\nsteps = 60\n"
                           "optimizer = { kind = \"adamw\", learning_rate = 3e-4 }\nfreeze = [\"*\"]\n",
                           "w.toml"));
  CHECK(varied.keys == texts{"batch_size", "optimizer.learning_rate", "freeze"});
  CHECK(varied.values.at("a") == texts{"4", "1e-4", "-"});
  CHECK(varied.values.at("b") == texts{"8", "3e-4", "[\"*\"]"});
}

TEST_CASE("one model alone, or none, varies in nothing") {
  CHECK(varied_in(parse_toml("[[model]]\nname = \"a\"\nsteps = 60\n", "w.toml")).keys.empty());
  CHECK(varied_in(parse_toml("", "w.toml")).keys.empty());
}

}  // namespace hydra::apps
