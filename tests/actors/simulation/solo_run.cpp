// Models alone, against an independent simulator.

#include "actors/simulation/solo_run.hpp"

#include "actors/simulation/instance_file.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;

TEST_CASE(
    "the reference value of every shipped instance equals that of reference.json, its step boundaries nearly so") {
  for (const auto& file : shipped_instances()) {
    INFO(file.stem());
    const auto y = yardstick_of(load_instance(file));
    const auto& expected = reference_of(file.stem()).at("reference");
    const auto us = [&](const char* key) { return Approx(expected.at(key).get<double>()).margin(1).epsilon(0); };
    CHECK(seconds(y.longest) * 1e6 == us("solo_max"));
    CHECK(seconds(y.shared) * 1e6 == us("solo_sum"));
    const auto without_turns = expected.at("solo_sum_without_turn").get<double>();
    CHECK(seconds(y.shared_without_boundaries) * 1e6 == Approx(without_turns).epsilon(0.002));
  }
}
