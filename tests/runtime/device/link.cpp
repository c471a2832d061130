#include "runtime/device/link.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;

TEST_CASE("a copy over an emulated link takes latency plus bytes over rate") {
  const emulated_link link{1_GiB_per_s, 20us};
  REQUIRE(link.time_for(1_GiB) == 1s + 20us);
  REQUIRE(link.time_for(0_B) == 20us);
}

TEST_CASE("an unlimited link still has its latency") {
  REQUIRE(emulated_link{byte_rate{}, 5us}.time_for(1_GiB) == 5us);
  REQUIRE(emulated_link{}.time_for(1_GiB) == 0us);
}
