#include "runtime/memory/offset_pool.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

using namespace hydra;

namespace offset_pool_test {

constexpr std::uint64_t unit = offset_pool::unit;

struct range {
  std::uint64_t begin, size;
};

/// The same interface, implemented by a search over every unit.
class plain_pool {
 public:
  plain_pool(std::uint64_t size, std::uint64_t border) : taken_(size / unit), border_{border} {}

  void mark(std::uint64_t offset, std::uint64_t n, bool taken) {
    for (std::uint64_t i = offset / unit; i < (offset + n + unit - 1) / unit; ++i) {
      REQUIRE(taken_[i] != taken);
      taken_[i] = taken;
    }
  }

  std::vector<range> free_ranges() const {
    std::vector<range> all;
    for (std::uint64_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      if (i == 0 || taken_[i - 1] || i * unit % border_ == 0) all.push_back({i * unit, 0});
      all.back().size += unit;
    }
    return all;
  }

  /// The smallest free range that is large enough.
  std::optional<std::uint64_t> best(std::uint64_t n, std::uint64_t alignment) const {
    std::optional<std::uint64_t> smallest;
    for (const range& r : free_ranges()) {
      const std::uint64_t begin = (r.begin + alignment - 1) / alignment * alignment;
      if (begin + n <= r.begin + r.size) smallest = std::min(r.size, smallest.value_or(r.size));
    }
    return smallest;
  }

 private:
  std::vector<bool> taken_;
  std::uint64_t border_;
};

const range* range_of(const std::vector<range>& all, std::uint64_t offset) {
  const auto holds = [&](const range& r) { return offset >= r.begin && offset < r.begin + r.size; };
  const auto found = std::ranges::find_if(all, holds);
  return found == all.end() ? nullptr : &*found;
}

TEST_CASE("a pool gives disjoint places from the smallest free range that is large enough and merges free ranges "
          "between borders") {
  const std::uint64_t border = GENERATE(1024, 20, 7) * 1024;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random{seed};
    const auto pick = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>{0, n - 1}(random); };
    constexpr std::uint64_t size = 64 * 1024;
    offset_pool pool{size, border};
    plain_pool plain{size, border};
    std::vector<range> live;
    for (int step = 0; step < 400; ++step) {
      CAPTURE(seed, step);
      if (!live.empty() && pick(3) == 0) {
        const auto i = pick(live.size());
        pool.give_back(live[i].begin, live[i].size);
        plain.mark(live[i].begin, live[i].size, false);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        const std::uint64_t alignment = pick(2) == 0 ? unit : 4096, n = 1 + pick(alignment == unit ? 500 : 9000);
        const auto rounded = (n + unit - 1) / unit * unit;
        const auto before = plain.free_ranges();
        const auto best = plain.best(rounded, alignment);
        const auto place = pool.take(n, alignment);
        REQUIRE(place.has_value() == best.has_value());
        if (!place) continue;
        REQUIRE(*place % alignment == 0);
        REQUIRE(range_of(before, *place)->size == *best);
        plain.mark(*place, n, true);
        live.push_back({*place, n});
      }
      std::uint64_t free = 0, largest = 0;
      for (const range& r : plain.free_ranges()) free += r.size, largest = std::max(largest, r.size);
      REQUIRE(pool.free() == free);
      REQUIRE(pool.largest() == largest);
    }
    for (const range& r : live) pool.give_back(r.begin, r.size);
    CHECK(pool.free() == size);
    CHECK(pool.largest() == std::min(size, border));
  }
}

TEST_CASE("small blocks of a pool do not displace the large ones from their alignment") {
  offset_pool pool{1 << 20};
  CHECK(pool.take(100) == (1u << 20) - 128);
  CHECK(pool.take(8192, 4096) == 0u);
  CHECK(pool.take(4096, 4096) == 8192u);
}

TEST_CASE("a pool has no place beyond its size and takes back only what it gave") {
  offset_pool pool{1024};
  CHECK_FALSE(pool.take(1025));
  CHECK_FALSE(pool.take(~0ull));
  CHECK(pool.take(1024) == 0u);
  CHECK_FALSE(pool.take(1));
  pool.give_back(0, 1024);
  CHECK_THROWS_AS(pool.give_back(0, 64), fault_error);
  CHECK_THROWS_AS(pool.give_back(960, 128), fault_error);
}

}  // namespace offset_pool_test
