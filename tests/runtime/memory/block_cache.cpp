#include "runtime/memory/block_cache.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace {

block_id block(std::uint32_t n) {
  block_id id;
  id.shard = shard_index{n};
  return id;
}

/// A cache with a budget of 100 bytes.
struct fixture {
  byte_budget budget{"device", 100_B};
  block_cache cache{budget};

  void insert(std::uint32_t n, byte_count bytes, bool dirty = false) {
    auto claim = cache.make_room(bytes);
    REQUIRE(claim);
    cache.insert(block(n), *std::move(claim), std::make_shared<device_block>(), dirty);
  }

  void insert_unpinned(std::uint32_t n, byte_count bytes, bool dirty = false) {
    insert(n, bytes, dirty);
    cache.unpin(block(n));
  }
};

}  // namespace

TEST_CASE("an inserted block is found with one pin and its bytes") {
  fixture f;
  const auto held = std::make_shared<device_block>();
  f.cache.insert(block(1), f.budget.reserve(40_B, "test"), held, true);
  f.cache.set_ready(block(1), ticket{17});
  const auto* entry = f.cache.find(block(1));
  REQUIRE(entry);
  REQUIRE(entry->block == held);
  REQUIRE(entry->bytes == 40_B);
  REQUIRE(entry->pins == 1);
  REQUIRE(entry->dirty);
  REQUIRE(entry->ready == ticket{17});
  REQUIRE(f.cache.find(block(2)) == nullptr);
  REQUIRE(f.cache.peek(block(2)) == nullptr);
}

TEST_CASE("the least recently used block goes first, and finding is using") {
  fixture f;
  for (const std::uint32_t n : {1, 2, 3}) f.insert_unpinned(n, 30_B);
  f.cache.find(block(1));
  f.cache.peek(block(2));
  REQUIRE(f.cache.ids() == std::vector{block(2), block(3), block(1)});
  REQUIRE(f.cache.make_room(40_B));
  REQUIRE(f.cache.ids() == std::vector{block(3), block(1)});
  REQUIRE(f.cache.take_dropped() == std::vector{block(2)});
  REQUIRE(f.cache.take_dropped().empty());
  REQUIRE(f.cache.evictions() == 1);
}

TEST_CASE("bytes that are free are reserved without an eviction") {
  fixture f;
  f.insert_unpinned(1, 60_B);
  REQUIRE(f.cache.make_room(40_B));
  REQUIRE(f.cache.evictions() == 0);
}

TEST_CASE("nothing is evicted if even evicting everything would not be enough") {
  fixture f;
  f.insert(1, 50_B);
  f.insert_unpinned(2, 30_B);
  REQUIRE_FALSE(f.cache.make_room(51_B));
  REQUIRE(f.cache.ids().size() == 2);
  REQUIRE(f.cache.evictable() == 30_B);
  REQUIRE(f.cache.make_room(50_B));
  REQUIRE(f.cache.ids() == std::vector{block(1)});
}

TEST_CASE("a block that has not been written back is never evicted") {
  fixture f;
  f.insert_unpinned(1, 60_B, true);
  REQUIRE(f.cache.evictable() == 0_B);
  REQUIRE_FALSE(f.cache.make_room(50_B));
  f.cache.set_clean(block(1));
  REQUIRE(f.cache.make_room(50_B));
  REQUIRE(f.cache.ids().empty());
}

TEST_CASE("saved tensors are evicted only if that is allowed, and after all other blocks") {
  using evicts = block_cache::evicts;
  fixture f;
  const auto saved = [](std::uint32_t n) {
    auto id = block(n);
    id.kind = block_kind::saved;
    return id;
  };
  for (const std::uint32_t n : {1, 2}) {
    f.cache.insert(saved(n), *f.cache.make_room(30_B), std::make_shared<device_block>(), false);
    f.cache.unpin(saved(n));
  }
  f.insert_unpinned(3, 30_B);
  CHECK(f.cache.resident(block_kind::saved) == 60_B);
  CHECK(f.cache.evictable(evicts::all_but_saved) == 30_B);
  CHECK(f.cache.evictable() == 90_B);
  CHECK_FALSE(f.cache.make_room(41_B));
  {
    const auto room = f.cache.make_room(41_B, evicts::all);
    CHECK(room);
    CHECK(f.cache.ids() == std::vector{saved(2)});  // the other block first, then the oldest
  }
  CHECK_FALSE(f.cache.evict_one(block_kind::saved, model_id{1}));
  CHECK(f.cache.evict_one(block_kind::saved, model_id{0}));
  CHECK_FALSE(f.cache.evict_one(block_kind::saved, model_id{0}));
}

TEST_CASE("a dropped block is removed at once, or with its last pin") {
  fixture f;
  f.insert(1, 60_B);
  f.cache.pin(block(1));
  REQUIRE_FALSE(f.cache.drop(block(1)));
  f.cache.unpin(block(1));
  REQUIRE(f.cache.peek(block(1)));
  f.cache.unpin(block(1));
  REQUIRE_FALSE(f.cache.peek(block(1)));
  REQUIRE(f.budget.used() == 0_B);
  REQUIRE_FALSE(f.cache.drop(block(1)));
  f.insert_unpinned(2, 60_B);
  REQUIRE(f.cache.drop(block(2)));
  REQUIRE(f.cache.take_dropped() == std::vector{block(1), block(2)});
  REQUIRE(f.cache.evictions() == 0);
}

TEST_CASE("a dropped block that has not been written back is removed when it has") {
  fixture f;
  f.insert_unpinned(1, 60_B, true);
  REQUIRE_FALSE(f.cache.drop(block(1)));
  REQUIRE(f.cache.peek(block(1)));
  f.cache.set_clean(block(1));
  REQUIRE_FALSE(f.cache.peek(block(1)));
}

TEST_CASE("inconsistent calls are faults and change nothing") {
  fixture f;
  f.insert_unpinned(1, 60_B);
  REQUIRE_THROWS_AS(f.cache.unpin(block(1)), fault_error);
  REQUIRE_THROWS_AS(f.cache.pin(block(2)), fault_error);
  REQUIRE_THROWS_AS(f.cache.set_clean(block(2)), fault_error);
  REQUIRE_THROWS_AS(f.cache.set_ready(block(2), ticket{1}), fault_error);
  REQUIRE_THROWS_AS(f.cache.insert(block(1), f.budget.reserve(10_B, "test"), nullptr, false), fault_error);
  REQUIRE(f.budget.used() == 60_B);
  REQUIRE(f.cache.ids() == std::vector{block(1)});
}

TEST_CASE("the tensor of an evicted block lives as long as an operation holds it") {
  fixture f;
  const auto held = std::make_shared<device_block>();
  f.cache.insert(block(1), f.budget.reserve(60_B, "test"), held, false);
  f.cache.unpin(block(1));
  f.cache.evict_all();
  REQUIRE(held.use_count() == 1);
  REQUIRE(f.budget.used() == 0_B);
}

TEST_CASE("the cache returns its bytes when it is destroyed") {
  byte_budget budget{"device", 100_B};
  {
    block_cache cache{budget};
    cache.insert(block(1), budget.reserve(60_B, "test"), nullptr, true);
    REQUIRE(cache.resident() == 60_B);
  }
  REQUIRE(budget.used() == 0_B);
}

// -- the same operations on a simple reference list ---

namespace {

struct believed_block {
  block_id id;
  std::uint64_t bytes;
  int pins = 1;
  bool dirty = false;
  bool unwanted = false;

  bool held() const { return pins > 0 || dirty; }
};

struct believed_cache {
  std::vector<believed_block> blocks;  // least recently used first
  std::vector<block_id> dropped;
  std::uint64_t evictions = 0;
  std::uint64_t used = 0;

  auto at(const block_id& id) { return std::ranges::find(blocks, id, &believed_block::id); }
  bool has(const block_id& id) { return at(id) != blocks.end(); }

  void remove(std::vector<believed_block>::iterator b) {
    used -= b->bytes;
    dropped.push_back(b->id);
    blocks.erase(b);
  }
  void tidy(const block_id& id) {
    if (at(id)->unwanted && !at(id)->held()) remove(at(id));
  }
  std::uint64_t evictable() const {
    std::uint64_t sum = 0;
    for (const auto& b : blocks) sum += b.held() ? 0 : b.bytes;
    return sum;
  }
  bool evict() {
    const auto b = std::ranges::find_if(blocks, [](const auto& x) { return !x.held(); });
    if (b == blocks.end()) return false;
    remove(b);
    ++evictions;
    return true;
  }
  bool make_room(std::uint64_t n, std::uint64_t limit) {
    if (used - evictable() + n > limit) return false;
    while (used + n > limit) evict();
    return true;
  }
};

/// One random operation on both the cache and the reference.
struct twin {
  static constexpr std::uint64_t limit = 1000;
  byte_budget budget{"device", byte_count{limit}};
  block_cache cache{budget};
  believed_cache model;
  std::mt19937 random{42};
  int refused = 0;

  block_id any() { return block(random() % 12); }

  void step() {
    const block_id id = any();
    switch (random() % 12) {
      case 0:
      case 1:
      case 2:
        return insert(id);
      case 3:
        return find(id);
      case 4:
        return pin(id);
      case 5:
      case 6:
      case 7:
        return unpin(id);
      case 8:
      case 9:
        return set_clean(id);
      case 10:
        return drop(id);
      default:
        if (random() % 50 == 0) evict_all();
    }
  }

  void insert(const block_id& id) {
    const std::uint64_t n = random() % 400;
    const bool dirty = random() % 3 == 0;
    auto claim = cache.make_room(byte_count{n});
    REQUIRE(claim.has_value() == model.make_room(n, limit));
    refused += !claim;
    if (!claim || model.has(id)) return;
    cache.insert(id, *std::move(claim), nullptr, dirty);
    model.blocks.push_back({.id = id, .bytes = n, .dirty = dirty});
    model.used += n;
  }
  void find(const block_id& id) {
    REQUIRE((cache.find(id) != nullptr) == model.has(id));
    if (model.has(id)) std::rotate(model.at(id), model.at(id) + 1, model.blocks.end());
  }
  void pin(const block_id& id) {
    if (!model.has(id)) return;
    cache.pin(id);
    ++model.at(id)->pins;
  }
  void unpin(const block_id& id) {
    if (!model.has(id) || model.at(id)->pins == 0) return;
    cache.unpin(id);
    --model.at(id)->pins;
    model.tidy(id);
  }
  void set_clean(const block_id& id) {
    if (!model.has(id)) return;
    cache.set_clean(id);
    model.at(id)->dirty = false;
    model.tidy(id);
  }
  void drop(const block_id& id) {
    const bool was_there = model.has(id);
    if (was_there) {
      model.at(id)->unwanted = true;
      model.tidy(id);
    }
    REQUIRE(cache.drop(id) == (was_there && !model.has(id)));
  }
  void evict_all() {
    cache.evict_all();
    while (model.evict()) {
    }
  }

  void compare() {
    std::vector<block_id> ids;
    for (const auto& b : model.blocks) ids.push_back(b.id);
    REQUIRE(cache.ids() == ids);
    REQUIRE(cache.evictable() == byte_count{model.evictable()});
    REQUIRE(cache.resident() == byte_count{model.used});
    REQUIRE(budget.used() == byte_count{model.used});
    REQUIRE(cache.evictions() == model.evictions);
    REQUIRE(cache.take_dropped() == std::exchange(model.dropped, {}));
    for (const auto& b : model.blocks) REQUIRE(cache.peek(b.id)->pins == static_cast<std::uint32_t>(b.pins));
  }
};

}  // namespace

TEST_CASE("twenty thousand random operations agree with a simple model") {
  twin t;
  for (int i = 0; i < 20000; ++i) {
    t.step();
    t.compare();
  }
  REQUIRE(t.model.evictions > 500);  // the sequence contains enough evictions
  REQUIRE(t.refused > 500);
}
