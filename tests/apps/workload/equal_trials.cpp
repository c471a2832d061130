#include "apps/workload/equal_trials.hpp"

#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace hydra::apps {

using Catch::Contains;

namespace {

std::optional<std::string> note_on(const std::string& search) {
  return note_on_equal_trials(parse_workload(example + search, "w.toml"));
}

}  // namespace

TEST_CASE("models that a search has drawn with the values of earlier ones are named in one note") {
  const auto note = note_on("[search]\nkind = \"random\"\nsamples = 9\nspace.batch_size = { choice = [2, 4] }\n");
  REQUIRE(note);
  CHECK_THAT(*note, Contains("7 of the 9 models of [search]") && Contains(" as gpt-1, ") && Contains(", and 3 more; "));
}

TEST_CASE("models that differ, and those without a search, have no such note") {
  CHECK(!note_on("[search]\nkind = \"random\"\nsamples = 9\nspace.learning_rate = { uniform = [0.1, 0.9] }\n"));
  CHECK(!note_on("[model.grid]\nbatch_size = [2, 4]\n[search]\nkind = \"grid\"\n"));
  CHECK(!note_on(""));
}

}  // namespace hydra::apps
