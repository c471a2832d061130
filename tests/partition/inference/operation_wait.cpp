#include "partition/inference/operation_wait.hpp"

#include "tests/support/gate.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

completion ended(std::uint64_t t, fault why = {}) { return {ticket{t}, {}, {}, std::move(why)}; }

}  // namespace

TEST_CASE("only operations under way are remembered, whether their end is reported before or after their submission") {
  operation_wait wait{"cpu:0", patience};
  for (std::uint64_t t = 1; t <= 1000; ++t) {
    const bool early = t % 3 == 0;
    if (early) wait.complete(ended(t));
    wait.begin(ticket{t});
    if (!early) wait.complete(ended(t));
    wait.for_end_of(ticket{t});
  }
  wait.begin(ticket{1001});
  CHECK(wait.under_way() == 1);
  wait.for_end_of(ticket{});
}

TEST_CASE("the first fault of any operation is thrown by every later wait") {
  operation_wait wait{"cpu:0", patience};
  wait.begin(ticket{1});
  wait.begin(ticket{2});
  wait.complete(ended(1, {fault_code::io, "first"}));
  wait.complete(ended(2, {fault_code::dependency_failed, "second"}));
  CHECK_THROWS_WITH(wait.for_end_of(ticket{2}), "first");
  CHECK_THROWS_WITH(wait.for_end_of(ticket{}), "first");
}

TEST_CASE("a device that completes nothing is awaited until the limit") {
  operation_wait wait{"cpu:0", 1ms};
  wait.begin(ticket{1});
  CHECK_THROWS_WITH(wait.for_end_of(ticket{1}), Contains("cpu:0 has completed nothing for "));
}
