// What a pilot would measure, against the shipped instances.

#include "actors/simulation/remaining_scale.hpp"

#include "actors/simulation/instance_file.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

TEST_CASE("the measured scale of every shipped model is the one an independent simulator has measured") {
  for (const auto& file : shipped_instances()) {
    INFO(file.stem());
    const auto expected = load_instance(file);
    auto measured = expected;
    measure_scales(measured);
    for (std::size_t m = 0; m < expected.models.size(); ++m) {
      INFO(expected.models[m].name);
      CHECK(measured.models[m].remaining_scale ==
            Approx(expected.models[m].remaining_scale).margin(0.00011).epsilon(0));
    }
  }
}

TEST_CASE("without transfers and updates a model alone only computes") {
  auto i = load_instance(instances_folder() / "equal-12x8.json");
  i.models[0].remaining_scale = 3;
  measure_scales(i);
  CHECK(i.models[0].remaining_scale == 1);
}
