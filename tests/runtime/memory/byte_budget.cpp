#include "runtime/memory/byte_budget.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/in_parallel.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <thread>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

TEST_CASE("a budget is exact at its boundary") {
  byte_budget budget{"device", 100_B};
  auto all = budget.try_reserve(100_B);
  REQUIRE(all);
  REQUIRE(budget.left() == 0_B);
  REQUIRE_FALSE(budget.try_reserve(1_B));
  REQUIRE(budget.try_reserve(0_B));
  all.reset();
  REQUIRE_FALSE(budget.try_reserve(101_B));
  REQUIRE(budget.used() == 0_B);
}

TEST_CASE("a claim so large that sums would overflow is refused") {
  byte_budget budget{"device", byte_count{std::numeric_limits<std::uint64_t>::max() - 1}};
  const auto some = budget.reserve(10_B, "some");
  REQUIRE_FALSE(budget.try_reserve(byte_count{std::numeric_limits<std::uint64_t>::max()}));
  REQUIRE(budget.used() == 10_B);
}

TEST_CASE("a refused claim says what was requested for what and what is left") {
  byte_budget budget{"host memory", 10_MiB};
  const auto some = budget.reserve(4_MiB, "some");
  try {
    budget.reserve(8_MiB, "gradients of model 3 shard 1 step 7");
    FAIL("the budget was exceeded");
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::out_of_memory);
    REQUIRE(e.what_happened().text ==
            "gradients of model 3 shard 1 step 7 needs 8.0 MiB of host memory, which has 6.0 MiB left of 10.0 MiB");
  }
}

TEST_CASE("a reservation returns its bytes once, wherever it was moved") {
  byte_budget budget{"device", 100_B};
  {
    auto first = budget.reserve(60_B, "first");
    reservation second = std::move(first);
    REQUIRE(first.bytes() == 0_B);
    REQUIRE(budget.used() == 60_B);
    reservation third = budget.reserve(10_B, "third");
    third = std::move(second);
    REQUIRE(budget.used() == 60_B);
    reservation& same = third;
    third = std::move(same);
    REQUIRE(third.bytes() == 60_B);
    third.release();
    third.release();
    REQUIRE(budget.used() == 0_B);
  }
  REQUIRE(budget.used() == 0_B);
}

TEST_CASE("the parts of a split reservation add up to it") {
  byte_budget budget{"device", 100_B};
  auto whole = budget.reserve(100_B, "whole");
  auto part = whole.split(30_B);
  REQUIRE(whole.bytes() == 70_B);
  REQUIRE(part.bytes() == 30_B);
  REQUIRE(budget.used() == 100_B);
  REQUIRE_THROWS_AS(part.split(31_B), fault_error);
  part.release();
  REQUIRE(budget.used() == 70_B);
}

TEST_CASE("the peak is the highest use ever, not a sample") {
  byte_budget budget{"device", 100_B};
  const auto base = budget.reserve(10_B, "base");
  budget.reserve(80_B, "short").release();
  REQUIRE(budget.used() == 10_B);
  REQUIRE(budget.peak() == 90_B);
  REQUIRE_FALSE(budget.try_reserve(95_B));
  REQUIRE(budget.peak() == 90_B);
}

TEST_CASE("a reservation may outlive its budget") {
  reservation late;
  {
    byte_budget budget{"device", 100_B};
    late = budget.reserve(40_B, "late");
  }
  REQUIRE(late.bytes() == 40_B);
  late.release();
  REQUIRE(late.bytes() == 0_B);
}

TEST_CASE("concurrent claims never exceed the limit together") {
  constexpr std::uint64_t limit = 1000;
  byte_budget budget{"device", byte_count{limit}};
  std::atomic<std::uint64_t> held = 0;  // never more than what the budget counts
  std::atomic<std::uint64_t> highest = 0;
  std::atomic<int> refused = 0;
  test::in_parallel(20000, [&](int i) {
    std::minstd_rand generator{static_cast<unsigned>(i) + 1};
    std::vector<reservation> mine;
    for (int k = 0; k < 8; ++k) {
      auto claim = budget.try_reserve(byte_count{generator() % 200});
      if (!claim) {
        ++refused;
        continue;
      }
      const std::uint64_t now = held += claim->bytes().value();
      for (auto h = highest.load(); h < now && !highest.compare_exchange_weak(h, now);) {
      }
      mine.push_back(*std::move(claim));
    }
    for (auto& claim : mine) held -= claim.bytes().value();
  });
  REQUIRE(refused > 0);
  REQUIRE(highest <= limit);
  REQUIRE(budget.peak() <= budget.limit());
  REQUIRE(budget.peak() >= byte_count{highest});
  REQUIRE(budget.used() == 0_B);
}

TEST_CASE("the peak is exact when several threads claim at once") {
  constexpr std::uint64_t threads = 4;
  std::vector<byte_budget> budgets;  // many, because a race in one of them is rare
  for (int i = 0; i < 20000; ++i) budgets.emplace_back("device", 1_GiB);
  std::atomic<std::uint64_t> arrivals = 0;
  // spinning: threads that are woken one by one do not run at the same time
  const auto meet = [&](std::uint64_t round) {
    for (++arrivals; arrivals < threads * round;) std::this_thread::yield();
  };
  test::in_parallel(threads, [&](int) {
    std::vector<reservation> held;
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      meet(i + 1);
      held.push_back(budgets[i].reserve(7_B, "test"));
    }
    meet(budgets.size() + 1);  // no thread returns its bytes before all have claimed theirs
  });
  const bool exact = std::ranges::all_of(budgets, [](const auto& b) { return b.used() == 0_B && b.peak() == 28_B; });
  REQUIRE(exact);
}
