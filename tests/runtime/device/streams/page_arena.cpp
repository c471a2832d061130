#include "runtime/device/streams/page_arena.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace {

constexpr auto compute = queue_kind::compute;
constexpr auto h2d = queue_kind::h2d;
constexpr launch_point first{compute, ticket{1}};
constexpr launch_point second{compute, ticket{2}};

using places = std::vector<std::size_t>;
using mappings = std::vector<std::pair<std::size_t, std::size_t>>;

}  // namespace

TEST_CASE("an allocation goes where pages are mapped, and missing pages are mapped") {
  page_arena a(1_KiB, 4);
  const auto small = a.take(512_B, compute);
  REQUIRE(small->offset == 0);
  REQUIRE(small->mapped == mappings{{0, 0}});
  const auto next = a.take(512_B, h2d);
  REQUIRE(next->offset == 512);
  REQUIRE(next->mapped.empty());
  const auto large = a.take(1025_B, compute);
  REQUIRE(large->offset == 1024);
  REQUIRE(large->mapped == mappings{{1, 1}, {2, 2}});
  REQUIRE(a.used() == 2560_B);
  REQUIRE(a.size() == 4_KiB);
  REQUIRE(a.range() == 32_KiB);
}

TEST_CASE("unused pages are remapped where one run of addresses is needed") {
  page_arena a(1_KiB, 4);
  std::vector<std::uint64_t> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(a.take(1_KiB, compute)->offset);
  }
  REQUIRE_FALSE(a.take(512_B, compute));
  a.give(blocks[0], std::nullopt);
  a.give(blocks[2], std::nullopt);  // half of it is free, in two places
  const auto both = a.take(2_KiB, compute);
  REQUIRE(both);
  REQUIRE(both->offset == 4096);
  REQUIRE(both->unmapped == places{2, 0});
  REQUIRE(both->mapped == mappings{{4, 0}, {5, 2}});
  REQUIRE(a.moves() == 2);
  REQUIRE(a.used() == a.size());
}

TEST_CASE(
    "bytes that a launched computation frees are free for the next computation at once, for copies when it is done") {
  page_arena a(1_KiB, 1);
  const auto all = a.take(1_KiB, compute);
  a.give(all->offset, first);
  REQUIRE_FALSE(a.take(1_KiB, h2d));
  const auto again = a.take(1_KiB, compute);
  REQUIRE(again->offset == 0);
  REQUIRE(again->mapped.empty());
  a.give(again->offset, second);
  a.retire(first);
  REQUIRE_FALSE(a.take(1_KiB, h2d));
  a.retire(second);
  REQUIRE(a.take(1_KiB, h2d)->offset == 0);
}

TEST_CASE("a page is not remapped while launched work may use it") {
  page_arena a(1_KiB, 2);
  const auto low = a.take(1_KiB, compute);
  const auto high = a.take(1_KiB, h2d);
  a.give(low->offset, first);
  a.give(high->offset, std::nullopt);
  REQUIRE_FALSE(a.take(2_KiB, h2d));
  REQUIRE(a.take(2_KiB, compute)->offset == 0);  // after what freed it, on the same queue
}

TEST_CASE("bytes can be returned once, where they were taken") {
  page_arena a(1_KiB, 1);
  const auto t = a.take(512_B, compute);
  REQUIRE_THROWS_AS(a.give(t->offset + 512, std::nullopt), fault_error);
  a.give(t->offset, std::nullopt);
  REQUIRE_THROWS_AS(a.give(t->offset, std::nullopt), fault_error);
  REQUIRE(a.used() == 0_B);
  REQUIRE(a.peak() == 512_B);
  REQUIRE(a.segments() == 1);
}

namespace {

/// Random takes and gives by three queues, checked in grains of 512 bytes.
class watched_arena {
 public:
  explicit watched_arena(std::uint32_t seed) : generator_(seed), owners_(arena_.range().value() / 512) {}

  void step() {
    const auto dice = generator_() % 10;
    ++operations_;
    if (dice < 5) {
      take();
    } else if (dice < 9 && !taken_.empty()) {
      give();
    } else {
      retire({any_queue(), ticket{generator_() % operations_}});
    }
  }

  void end() {
    while (!taken_.empty()) {
      give();
    }
    for (const auto queue : queues) {
      retire({queue, ticket{operations_}});
    }
    REQUIRE(arena_.used() == 0_B);
    REQUIRE(arena_.segments() == 1);
    REQUIRE(arena_.take(arena_.size(), compute));
  }

 private:
  static constexpr std::size_t grains = 4;  // of a page
  static constexpr std::array queues{queue_kind::compute, queue_kind::h2d, queue_kind::d2h};
  struct owner {
    bool used = false;
    std::optional<launch_point> freed{};
  };

  queue_kind any_queue() { return queues[generator_() % queues.size()]; }

  void take() {
    const auto queue = any_queue();
    const std::size_t n = 1 + generator_() % 12;
    const auto t = arena_.take(byte_count{n * 512 - generator_() % 512}, queue);
    if (!t) {
      REQUIRE(idle_pages() < (n + grains - 1) / grains);  // otherwise they would have been remapped
      return;
    }
    move_pages(*t);
    for (std::size_t i = t->offset / 512; i < t->offset / 512 + n; ++i) {
      REQUIRE(may_take(owners_.at(i), queue));
      REQUIRE(pages_.contains(i / grains));
      owners_[i] = {true, {}};
    }
    taken_.emplace_back(t->offset, n);
  }

  void move_pages(const page_arena::taking& t) {
    for (const auto p : t.unmapped) {
      REQUIRE(is_idle(p));
      REQUIRE(pages_.erase(p) == 1);
    }
    for (const auto& [p, page] : t.mapped) {
      REQUIRE(pages_.emplace(p, page).second);
    }
    std::set<std::size_t> distinct;
    for (const auto& [p, page] : pages_) {
      REQUIRE(distinct.insert(page).second);
    }
    REQUIRE(pages_.size() <= 16);
  }

  void give() {
    const auto which = generator_() % taken_.size();
    const auto [at, n] = taken_[which];
    taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(which));
    const auto freed =
        generator_() % 2 == 0 ? std::optional<launch_point>{} : launch_point{any_queue(), ticket{operations_}};
    arena_.give(at, freed);
    for (std::size_t i = at / 512; i < at / 512 + n; ++i) {
      owners_[i] = {false, freed};
    }
  }

  void retire(const launch_point& done) {
    arena_.retire(done);
    for (auto& o : owners_) {
      if (!o.used && o.freed && o.freed->queue == done.queue && o.freed->operation <= done.operation) {
        o.freed.reset();
      }
    }
  }

  static bool may_take(const owner& o, queue_kind queue) { return !o.used && (!o.freed || o.freed->queue == queue); }

  bool is_idle(std::size_t place) const {
    const auto begin = owners_.begin() + static_cast<std::ptrdiff_t>(place * grains);
    return std::all_of(begin, begin + grains, [](const owner& o) { return !o.used && !o.freed; });
  }

  /// Pages that are mapped nowhere, or to addresses that are free for all queues.
  std::size_t idle_pages() const {
    const auto idle = std::ranges::count_if(pages_, [this](const auto& p) { return is_idle(p.first); });
    return 16 - pages_.size() + static_cast<std::size_t>(idle);
  }

  std::mt19937 generator_;
  page_arena arena_{byte_count{grains * 512}, 16};
  std::vector<owner> owners_;
  std::map<std::size_t, std::size_t> pages_;   ///< place -> page
  std::vector<std::pair<std::uint64_t, std::size_t>> taken_;
  std::uint64_t operations_ = 1;
};

}  // namespace

TEST_CASE("no byte is allocated twice, no page in use is remapped, none is lost, and what could be allocated is") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    watched_arena a(seed);
    for (int i = 0; i < 400; ++i) {
      a.step();
    }
    a.end();
  }
}
