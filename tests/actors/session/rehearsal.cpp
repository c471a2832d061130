// The first steps of a session's models, trained before it is predicted.

#include "actors/session/hydra.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace hydra;
using namespace hydra::literals;

namespace {

model_description small(const std::string& name, std::uint32_t steps, double learning_rate = 1e-3) {
  return {.name = name,
          .chain = mlp({.layers = 4, .width = 32}),
          .data = {synthetic_classes{.validation_samples = 64}},
          .batch_size = 8,
          .micro_batches = 2,
          .steps = steps,
          .optimizer = adamw({.learning_rate = learning_rate}),
          .validate = validation_options{.every_steps = 2}};
}

struct two_models : session {
  explicit two_models(std::uint32_t steps, double learning_rate = 1e-3) : session{{.log = verbosity::quiet}} {
    add_devices(2, cpu_device{.memory = 64_KiB});
    add_model(small("a", steps, learning_rate));
    add_model(small("b", steps));
  }
};

}  // namespace

TEST_CASE("a rehearsal trains no more than the first steps, and has no effect on the run after it", "[rehearsal]") {
  two_models alone{6};
  const auto expected = alone.run();
  two_models s{6};
  const auto rehearsed = s.rehearse(3);
  CHECK(rehearsed.steps == 3);
  CHECK(rehearsed.makespan > duration{});
  CHECK(rehearsed.overhead > 0);
  CHECK(s.predict().makespan > duration{});
  const auto r = s.run();
  REQUIRE(r.all_finished());
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(r.models[i].steps == 6);
    CHECK(r.models[i].digest == expected.models[i].digest);
  }
}

TEST_CASE("a model that has fewer steps is rehearsed to its end", "[rehearsal]") {
  two_models s{2};
  CHECK(s.rehearse(5).steps == 2);
  CHECK(s.predict().makespan > duration{});
}

TEST_CASE("a model that fails in the rehearsal is named", "[rehearsal]") {
  two_models s{6, std::numeric_limits<float>::max()};
  CHECK_THROWS_WITH(s.rehearse(4), Catch::StartsWith("model 'a': the loss of step 2 is "));
}
