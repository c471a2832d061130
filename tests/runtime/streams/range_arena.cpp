#include "runtime/streams/range_arena.hpp"

#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace {

constexpr auto compute = queue_kind::compute;
constexpr auto h2d = queue_kind::h2d;
constexpr launch_point first{compute, ticket{1}};
constexpr launch_point second{compute, ticket{2}};

}  // namespace

TEST_CASE("computations take the low end of a device's memory, copies the high end") {
  range_arena a(4096_B);
  REQUIRE(a.take(512_B, compute) == 0u);
  REQUIRE(a.take(512_B, h2d) == 3584u);
  REQUIRE(a.take(1_B, compute) == 512u);
  REQUIRE(a.used() == 1536_B);
  REQUIRE(a.largest(compute) == 2560_B);
}

TEST_CASE("what does not fit in one run is not taken") {
  range_arena a(2048_B);
  const auto low = a.take(512_B, compute);
  REQUIRE(a.take(512_B, compute) == 512u);
  REQUIRE(a.take(1024_B, compute) == 1024u);
  a.give(*low, std::nullopt);
  REQUIRE_FALSE(a.take(1024_B, compute));
  REQUIRE(a.take(512_B, compute) == 0u);
  REQUIRE_FALSE(a.take(1_B, h2d));
  REQUIRE(a.peak() == 2048_B);
}

TEST_CASE("bytes that a launched computation frees are free for the next computation at once, for copies when it is done") {
  range_arena a(1024_B);
  const auto all = a.take(1024_B, compute);
  a.give(*all, first);
  REQUIRE(a.waits());
  REQUIRE_FALSE(a.take(1024_B, h2d));
  const auto again = a.take(1024_B, compute);
  REQUIRE(again == 0u);
  a.give(*again, second);
  a.retire(first);
  REQUIRE_FALSE(a.take(1024_B, h2d));
  a.retire(second);
  REQUIRE_FALSE(a.waits());
  REQUIRE(a.take(1024_B, h2d) == 0u);
}

TEST_CASE("a computation takes one run across what its queue freed and what is free for all") {
  range_arena a(1536_B);
  const auto low = a.take(512_B, compute);
  const auto middle = a.take(512_B, compute);
  a.give(*low, std::nullopt);
  a.give(*middle, first);
  REQUIRE(a.take(1536_B, compute) == 0u);
}

TEST_CASE("bytes are given back once, where they were taken") {
  range_arena a(1024_B);
  const auto at = a.take(512_B, compute);
  REQUIRE_THROWS_AS(a.give(*at + 512, std::nullopt), fault_error);
  a.give(*at, std::nullopt);
  REQUIRE_THROWS_AS(a.give(*at, std::nullopt), fault_error);
  REQUIRE(a.used() == 0_B);
  REQUIRE(a.segments() == 1);
}

namespace {

/// Random takes and gives by three queues, watched byte by byte in blocks of 512.
class watched_arena {
 public:
  explicit watched_arena(std::uint32_t seed) : generator_(seed), owners_(blocks) {}

  void step() {
    const auto dice = generator_() % 10;
    if (dice < 5) {
      take();
    } else if (dice < 9 && !taken_.empty()) {
      give();
    } else {
      retire();
    }
    ++operations_;
  }

  void end() {
    while (!taken_.empty()) {
      give();
    }
    for (const auto queue : queues) {
      arena_.retire({queue, ticket{operations_ + 1}});
    }
    REQUIRE(arena_.used() == 0_B);
    REQUIRE(arena_.segments() == 1);
  }

 private:
  static constexpr std::size_t blocks = 64;
  static constexpr std::array queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};
  struct owner {
    bool used = false;
    std::optional<launch_point> freed{};
  };

  queue_kind any_queue() { return queues[generator_() % queues.size()]; }

  void take() {
    const auto queue = any_queue();
    const std::size_t n = 1 + generator_() % 8;
    const auto at = arena_.take(byte_count{n * 512 - generator_() % 512}, queue);
    if (!at) {
      REQUIRE(longest_run(queue) < n);
      return;
    }
    for (std::size_t i = *at / 512; i < *at / 512 + n; ++i) {
      REQUIRE(may_take(owners_.at(i), queue));
      owners_[i] = {true, {}};
    }
    taken_.emplace_back(*at, n);
  }

  void give() {
    const auto which = generator_() % taken_.size();
    const auto [at, n] = taken_[which];
    taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto freed = generator_() % 2 == 0 ? std::optional<launch_point>{} : launch_point{any_queue(), ticket{operations_}};
    arena_.give(at, freed);
    for (std::size_t i = at / 512; i < at / 512 + n; ++i) {
      owners_[i] = {false, freed};
    }
  }

  void retire() {
    const launch_point done{any_queue(), ticket{generator_() % (operations_ + 1)}};
    arena_.retire(done);
    for (auto& o : owners_) {
      if (!o.used && o.freed && o.freed->queue == done.queue && o.freed->operation <= done.operation) {
        o.freed.reset();
      }
    }
  }

  static bool may_take(const owner& o, queue_kind queue) { return !o.used && (!o.freed || o.freed->queue == queue); }

  std::size_t longest_run(queue_kind queue) const {
    std::size_t longest = 0, now = 0;
    for (const auto& o : owners_) {
      now = may_take(o, queue) ? now + 1 : 0;
      longest = std::max(longest, now);
    }
    return longest;
  }

  std::mt19937 generator_;
  range_arena arena_{byte_count{blocks * 512}};
  std::vector<owner> owners_;
  std::vector<std::pair<std::uint64_t, std::size_t>> taken_;
  std::uint64_t operations_ = 1;
};

}  // namespace

TEST_CASE("no byte is given to two, none is refused that is there, none is lost") {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    watched_arena a(seed);
    for (int i = 0; i < 400; ++i) {
      a.step();
    }
    a.end();
  }
}
