#include "runtime/base/thread_supply.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/scarce_threads.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>

using namespace hydra;
using namespace hydra::test;
using Catch::Contains;

namespace {

/// A system with so many free threads, which are free again when they end. Notes how many there were at the same time.
class counted_system {
 public:
  explicit counted_system(std::size_t free) : free_{free} {}

  thread_maker maker() {
    return [this](std::function<void()> body) {
      if (alive_ == free_) throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again)};
      most_ = ++alive_;
      return std::jthread{[this, body = std::move(body)] {
        body();
        --alive_;
      }};
    };
  }

  std::size_t alive() const { return alive_; }
  std::size_t most() const { return most_; }

 private:
  std::size_t free_, most_ = 0;
  std::atomic<std::size_t> alive_ = 0;
};

}  // namespace

TEST_CASE("threads that are possible live at the same time, and have ended when their number is known") {
  for (const std::size_t free : {0U, 1U, 4U, 5U, 9U}) {
    counted_system system{free};
    CHECK(possible_threads(5, system.maker()) == std::min<std::size_t>(free, 5));
    CHECK(system.most() == std::min<std::size_t>(free, 5));
    CHECK(system.alive() == 0);
  }
}

TEST_CASE("a thread for which the host has no memory is not possible either") {
  int left = 3;
  CHECK(possible_threads(5, [&](std::function<void()> body) {
          if (left-- == 0) throw std::bad_alloc{};
          return std::jthread{std::move(body)};
        }) == 3);
}

TEST_CASE("who needs more threads than there are is refused with both numbers and what to do") {
  {
    const scarce_threads enough{7};
    REQUIRE_NOTHROW(require_threads(7, "the run"));
  }
  const scarce_threads few{5};
  try {
    require_threads(7, "the run");
    FAIL("it was not refused");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what_happened().text, Catch::StartsWith("the run needs 7 threads beside the ") &&
                                           Contains(" of this process, but 5 can be made: ") && Contains("ulimit -u"));
  }
}

TEST_CASE("who needs no thread is never refused") {
  const scarce_threads none{0};
  REQUIRE_NOTHROW(require_threads(0, "the run"));
}

TEST_CASE("other errors, and results, pass through what would end the process") {
  CHECK(begin_or_end_process("the actors", [] { return 3; }) == 3);
  CHECK_THROWS_AS(begin_or_end_process("the actors", []() -> int { throw std::runtime_error{"other"}; }),
                  std::runtime_error);
  const auto other = std::make_error_code(std::errc::invalid_argument);
  CHECK_THROWS_AS(begin_or_end_process("the actors", [&]() -> int { throw std::system_error{other}; }),
                  std::system_error);
}
