#include "actors/model/retry_tracker.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace retry_tracker_test {

constexpr device_id d0{0};
constexpr device_id d1{1};

unit attempt(std::uint32_t n, std::uint32_t shard = 0) {
  unit u;
  u.shard = shard_index{shard};
  u.attempt = n;
  return u;
}

TEST_CASE("a unit that was lost through no fault of its own is tried again for ever") {
  retry_tracker tracker;
  const auto why = GENERATE(fault_code::device_lost, fault_code::dependency_failed, fault_code::cancelled);
  for (std::uint32_t n = 0; n < 100; ++n) {
    CHECK(tracker.may_retry(attempt(n), d0, why));
  }
}

TEST_CASE("a unit that ran out of memory is tried once more, whichever its attempt") {
  retry_tracker tracker;
  CHECK(tracker.may_retry(attempt(0), d0, fault_code::out_of_memory));
  CHECK(tracker.may_retry(attempt(0, 1), d0, fault_code::out_of_memory));  // another unit has its own count
  CHECK_FALSE(tracker.may_retry(attempt(1), d0, fault_code::out_of_memory));
}

TEST_CASE("a refused lease is asked for again, but not without end") {
  retry_tracker tracker;
  for (std::uint32_t n = 0; n < 3; ++n) {
    CHECK(tracker.may_retry(attempt(n), d0, fault_code::refused));
  }
  CHECK_FALSE(tracker.may_retry(attempt(3), d0, fault_code::refused));
}

TEST_CASE("failures of steps that are over are forgotten, however many there were") {
  retry_tracker tracker;
  for (std::uint32_t step = 0; step < 10'000; ++step) {
    auto u = attempt(0);
    u.step = step_index{step};
    CHECK(tracker.may_retry(u, d0, fault_code::out_of_memory));
    CHECK(tracker.may_retry(u, d1, fault_code::io));
  }
  CHECK(tracker.size() <= 6);  // of the last two steps
  auto last = attempt(1);
  last.step = step_index{9'999};
  CHECK_FALSE(tracker.may_retry(last, d0, fault_code::out_of_memory));
}

TEST_CASE("a failure that would occur again is not retried") {
  retry_tracker tracker;
  for (const auto why : {fault_code::bad_input, fault_code::does_not_fit, fault_code::not_finite}) {
    CHECK_FALSE(tracker.may_retry(attempt(0), d0, why));
  }
}

TEST_CASE("a unit whose operation has thrown is tried twice more") {
  retry_tracker tracker;
  const auto why = GENERATE(fault_code::internal, fault_code::io);
  CHECK(tracker.may_retry(attempt(0), d0, why));
  CHECK(tracker.may_retry(attempt(4), d1, why));  // there were losses between
  CHECK(tracker.may_retry(attempt(0, 1), d0, why));  // another unit has its own count
  CHECK_FALSE(tracker.may_retry(attempt(5), d0, why));
  CHECK(tracker.failures(attempt(6), why) == 3);
}

TEST_CASE("throws and running out of memory are counted apart") {
  retry_tracker tracker;
  CHECK(tracker.may_retry(attempt(0), d0, fault_code::internal));
  CHECK(tracker.may_retry(attempt(1), d0, fault_code::out_of_memory));
  CHECK(tracker.may_retry(attempt(2), d0, fault_code::io));
  CHECK_FALSE(tracker.may_retry(attempt(3), d0, fault_code::out_of_memory));
}

TEST_CASE("a unit avoids the devices on which it has thrown, in their order, and no other unit does") {
  using devices = std::vector<device_id>;
  retry_tracker tracker;
  CHECK(tracker.avoid(attempt(0)) == devices{});
  tracker.may_retry(attempt(0), d0, fault_code::internal);
  CHECK(tracker.avoid(attempt(1)) == devices{d0});
  tracker.may_retry(attempt(1), d1, fault_code::io);
  CHECK(tracker.avoid(attempt(2)) == devices{d0, d1});
  tracker.may_retry(attempt(2), d0, fault_code::io);
  CHECK(tracker.avoid(attempt(3)) == devices{d1, d0});
  CHECK(tracker.avoid(attempt(2, 1)) == devices{});
  tracker.may_retry(attempt(0, 1), d0, fault_code::out_of_memory);
  CHECK(tracker.avoid(attempt(1, 1)) == devices{});
}

}  // namespace retry_tracker_test
