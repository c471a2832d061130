#include "apps/steering/clone_name.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

TEST_CASE("clones of a model, and of its clones, are counted behind its name") {
  CHECK(clone_name("gpt", false, {"gpt", "other"}) == "gpt.2");
  CHECK(clone_name("gpt", false, {"gpt", "gpt.2"}) == "gpt.3");
  CHECK(clone_name("gpt.2", true, {"gpt", "gpt.2"}) == "gpt.3");
  CHECK(clone_name("gpt-lr0.003.2", true, {"gpt-lr0.003", "gpt-lr0.003.2"}) == "gpt-lr0.003.3");
  CHECK(clone_name("gpt.pbt2", true, {"gpt", "gpt.pbt2"}) == "gpt.pbt2.2");
}

TEST_CASE("a number that belongs to the name of a model stays in the names of its clones") {
  CHECK(clone_name("gpt-lr0.003", false, {"gpt-lr0.003", "gpt-lr0.001"}) == "gpt-lr0.003.2");
  CHECK(clone_name("gpt-d0.1", false, {"gpt-d0", "gpt-d0.1"}) == "gpt-d0.1.2");
  CHECK(clone_name("mine-0.5", true, {"gpt", "mine-0.5"}) == "mine-0.5.2");  // a clone that was given a name
  CHECK(clone_name(".2", true, {".2"}) == ".2.2");
}

}  // namespace hydra::apps
