#include "runtime/memory/host_arena.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/in_parallel.hpp"
#include "tests/support/recorded_locker.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

using namespace hydra;
using namespace hydra::literals;

namespace {

std::uintptr_t address(const host_block_ptr& block) { return reinterpret_cast<std::uintptr_t>(block->data()); }

/// Sizes on both sides of every boundary of the arena (alignment, stagger, mapping).
std::vector<byte_count> sizes() {
  std::vector<byte_count> all{0_B};
  for (const byte_count edge : {1_B, 64_B, 4_KiB, 256_KiB, 1_MiB, 2_MiB, 5_MiB})
    for (const std::uint64_t n : {edge.value() - 1, edge.value(), edge.value() + 1}) all.push_back(byte_count{n});
  return all;
}

bool all_zero(const host_block_ptr& block) {
  return std::all_of(block->data(), block->data() + block->size().value(),
                     [](std::byte b) { return b == std::byte{0}; });
}

fault refusal(host_arena& arena, byte_count n) {
  try {
    arena.allocate(n, "activation of model 3");
    return {};
  } catch (const fault_error& e) {
    return e.what_happened();
  }
}

}  // namespace

TEST_CASE("host blocks have the requested size and are aligned to cache lines") {
  const auto arena = make_host_arena(1_GiB);
  for (const byte_count n : sizes()) {
    const auto block = arena->allocate(n, "test");
    CAPTURE(n.value());
    REQUIRE(block->size() == n);
    REQUIRE(address(block) % 64 == 0);
    REQUIRE((block->data() != nullptr) == (n > 0_B));
    REQUIRE(block->floats().size() == n.value() / 4);
  }
}

TEST_CASE("host blocks are zero, also in reused memory") {
  const auto arena = make_host_arena(1_GiB);
  for (int round = 0; round < 3; ++round)
    for (const byte_count n : sizes()) {
      const auto block = arena->allocate(n, "test");
      CAPTURE(round, n.value());
      REQUIRE(all_zero(block));
      if (n > 0_B) std::memset(block->data(), 0xff, n.value());  // every byte may be written
    }
}

TEST_CASE("blocks that exist at the same time do not overlap") {
  const auto arena = make_host_arena(1_GiB);
  std::vector<host_block_ptr> blocks;
  for (const byte_count n : sizes())
    if (n > 0_B) blocks.push_back(arena->allocate(n, "test"));
  std::ranges::sort(blocks, {}, address);
  for (std::size_t i = 1; i < blocks.size(); ++i)
    REQUIRE(address(blocks[i - 1]) + blocks[i - 1]->size().value() <= address(blocks[i]));
}

TEST_CASE("a block is charged what the arena announces and credited with its last handle") {
  const auto arena = make_host_arena(1_GiB);
  for (const byte_count n : sizes()) {
    CAPTURE(n.value());
    auto block = arena->allocate(n, "test");
    REQUIRE(arena->budget().used() == arena->charged(n));
    REQUIRE(arena->charged(n) >= n);
    auto other = block;
    block.reset();
    REQUIRE(arena->budget().used() == arena->charged(n));
    other.reset();
    REQUIRE(arena->budget().used() == 0_B);
  }
}

TEST_CASE("small blocks are charged their cache lines, large ones a few percent more") {
  const auto arena = make_host_arena(1_GiB);
  REQUIRE(arena->charged(0_B) == 0_B);
  REQUIRE(arena->charged(1_B) == 64_B);
  REQUIRE(arena->charged(64_B) == 64_B);
  REQUIRE(arena->charged(255_KiB) == 255_KiB);
  REQUIRE(arena->charged(2_MiB) <= 2_MiB + 60_KiB);
  REQUIRE(arena->charged(1_GiB) <= 1_GiB + 60_KiB);
}

TEST_CASE("the host cap is exact at its boundary") {
  for (const byte_count n : {100_KiB, 1_MiB, 3_MiB}) {
    const byte_count charge = make_host_arena(1_GiB)->charged(n);
    const auto enough = make_host_arena(charge);
    REQUIRE(enough->allocate(n, "test")->size() == n);
    const auto too_small = make_host_arena(charge - 1_B);
    const fault f = refusal(*too_small, n);
    REQUIRE(f.code == fault_code::out_of_memory);
    REQUIRE_THAT(f.text, Catch::Contains("activation of model 3") && Catch::Contains("host memory"));
    REQUIRE(too_small->budget().used() == 0_B);
    REQUIRE(too_small->budget().peak() == 0_B);
  }
}

TEST_CASE("an impossible size is refused and leaves nothing claimed") {
  const auto arena = make_host_arena(byte_count{~0ull});
  for (const byte_count n :
       {byte_count{1ull << 60}, byte_count{1ull << 63}, byte_count{~0ull - 5}, byte_count{~0ull}}) {
    CAPTURE(n.value());
    const fault f = refusal(*arena, n);
    REQUIRE((f.code == fault_code::does_not_fit || f.code == fault_code::out_of_memory));
    REQUIRE_THAT(f.text, Catch::Contains("activation of model 3"));
    REQUIRE(arena->budget().used() == 0_B);
  }
}

TEST_CASE("the large buffers of a shard never start at the same offset modulo a huge page") {
  constexpr std::uint64_t huge_page = 2 << 20;
  for (std::uint32_t shards = 1; shards <= 12; ++shards) {
    const auto arena = make_host_arena(1_GiB);
    std::vector<std::vector<host_block_ptr>> kinds(4);  // all parameters first, then all gradients, ...
    for (auto& kind : kinds)
      for (std::uint32_t s = 0; s < shards; ++s) kind.push_back(arena->allocate(2_MiB, "test"));
    for (std::uint32_t s = 0; s < shards; ++s) {
      std::set<std::uintptr_t> places;
      for (const auto& kind : kinds) places.insert(address(kind[s]) % huge_page);
      CAPTURE(shards, s);
      REQUIRE(places.size() == kinds.size());
      const bool steps = std::ranges::all_of(places, [](auto p) { return p % (4096 + 1024) == 0; });
      REQUIRE(steps);
    }
  }
}

TEST_CASE("consecutive medium buffers start at different offsets of a page") {
  const auto arena = make_host_arena(1_GiB);
  std::set<std::uintptr_t> places;
  std::vector<host_block_ptr> blocks;
  for (int i = 0; i < 4; ++i) {
    blocks.push_back(arena->allocate(256_KiB, "test"));
    places.insert(address(blocks.back()) % 4096);
  }
  REQUIRE(places == std::set<std::uintptr_t>{0, 1024, 2048, 3072});
}

TEST_CASE("blocks may outlive their arena") {
  host_block_ptr small, large;
  {
    const auto arena = make_host_arena(1_GiB);
    small = arena->allocate(1_KiB, "test");
    large = arena->allocate(3_MiB, "test");
  }
  small->floats().back() = 1.0f;
  large->floats().back() = 1.0f;
  REQUIRE(large->floats().back() == 1.0f);
}

TEST_CASE("an accounting arena charges like the real one and holds nothing") {
  const auto real = make_host_arena(1_GiB);
  const auto accounting = make_accounting_arena(1_GiB);
  for (const byte_count n : sizes()) {
    const auto block = accounting->allocate(n, "test");
    CAPTURE(n.value());
    REQUIRE(accounting->charged(n) == real->charged(n));
    REQUIRE(accounting->budget().used() == accounting->charged(n));
    REQUIRE(block->data() == nullptr);
    REQUIRE(block->size() == n);
    REQUIRE(block->floats().empty());
  }
  REQUIRE(accounting->budget().used() == 0_B);
  REQUIRE(refusal(*accounting, 2_GiB).code == fault_code::out_of_memory);
}

TEST_CASE("an accounting arena counts terabytes") {
  const auto arena = make_accounting_arena(1024_GiB * 64);
  const auto block = arena->allocate(1024_GiB * 60, "test");
  REQUIRE(arena->budget().used() >= 1024_GiB * 60);
}

TEST_CASE("several threads may allocate and free at once") {
  const auto arena = make_host_arena(1_GiB);
  test::in_parallel(400, [&](int i) {
    const auto block = arena->allocate(byte_count{1000 + 10000ull * static_cast<std::uint64_t>(i)}, "test");
    block->floats().front() = 1.0f;
    block->floats().back() = 1.0f;
  });
  REQUIRE(arena->budget().used() == 0_B);
  REQUIRE(arena->budget().peak() > 0_B);
}

// -- the pinned pool --------------------------------------------------------------------------------------------------

TEST_CASE("a pinned pool is locked as a whole, in order, in pieces, with exactly the requested size") {
  test::recorded_locker first, second;
  {
    const auto arena = make_host_arena(1_GiB, {.lockers = {&first, &second}, .size = 5_MiB + 1_B, .piece = 2_MiB});
    for (const auto* by : {&first, &second}) {
      REQUIRE(by->locks().size() == 3);
      CHECK(by->locks()[0].size() == 2 << 20);
      CHECK(by->locks()[1].data() == by->locks()[0].data() + (2 << 20));
      CHECK(by->locks()[2].data() == by->locks()[1].data() + (2 << 20));
      CHECK(by->locks()[2].size() == (1 << 20) + 4096);
      CHECK(by->locks()[0].data() == first.locks()[0].data());
    }
    CHECK(arena->budget().used() == 5_MiB + 1_B);  // the pool is claimed as a whole
    CHECK(arena->pinned() == 5_MiB + 1_B);
  }
  for (const auto* by : {&first, &second}) {
    CHECK(by->held().empty());
    CHECK(by->strangers() == 0);
  }
}

TEST_CASE("transferred blocks are in the pinned pool, kept ones never, and only the latter are charged in addition") {
  test::recorded_locker locker;
  byte_count pool;
  for (const byte_count n : sizes()) pool += host_charge(n);
  const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = pool});
  const auto ordinary = make_host_arena(1_GiB);
  std::vector<host_block_ptr> all;
  for (const byte_count n : sizes()) {
    CAPTURE(n.value());
    all.push_back(arena->allocate(n, "test", host_use::transferred));
    REQUIRE(all.back()->size() == n);
    REQUIRE(address(all.back()) % 64 == 0);
    REQUIRE(locker.holds(all.back()->data()) == (n > 0_B));
    REQUIRE(arena->budget().used() == pool);
    const auto kept = arena->allocate(n, "test", host_use::kept);
    REQUIRE_FALSE(locker.holds(kept->data()));
    REQUIRE(arena->budget().used() == pool + arena->charged(n));
    REQUIRE_FALSE(locker.holds(arena->allocate(n, "test")->data()));
    REQUIRE(arena->charged(n) == ordinary->charged(n));
  }
  CHECK(arena->budget().used() == pool);
  std::ranges::sort(all, {}, address);
  for (std::size_t i = 1; i < all.size(); ++i)
    REQUIRE(address(all[i - 1]) + all[i - 1]->size().value() <= address(all[i]));
}

TEST_CASE("a pinned pool of the planned size holds the blocks of the plan, repeatedly") {
  test::recorded_locker locker;
  const byte_count each = 300_KiB;
  const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = host_charge(each) * 8});
  for (int round = 0; round < 3; ++round) {
    std::vector<host_block_ptr> all;
    for (int i = 0; i < 8; ++i) all.push_back(arena->allocate(each, "test", host_use::transferred));
    for (const auto& block : all) CHECK(locker.holds(block->data()));
  }
  CHECK(arena->unlocked_blocks() == 0);
}

TEST_CASE("consecutive large blocks of a pinned pool start at different offsets of a page") {
  test::recorded_locker locker;
  const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = 64_MiB});
  std::set<std::uintptr_t> places;
  std::vector<host_block_ptr> blocks;
  for (const byte_count n : {100_B, 3_MiB, 100_B, 1_MiB, 300_KiB, 100_B, 256_KiB}) {
    blocks.push_back(arena->allocate(n, "test", host_use::transferred));
    if (n > 1_KiB) places.insert(address(blocks.back()) % 4096);
  }
  REQUIRE(places == std::set<std::uintptr_t>{0, 1024, 2048, 3072});
}

TEST_CASE("a block that does not fit into the pinned pool is allocated like any other, within the cap, and counted") {
  test::recorded_locker locker;
  const auto arena = make_host_arena(3_MiB, {.lockers = {&locker}, .size = 1_MiB});
  const auto inside = arena->allocate(512_KiB, "test", host_use::transferred);
  CHECK(arena->unlocked_blocks() == 0);
  const auto outside = arena->allocate(1_MiB, "test", host_use::transferred);
  CHECK(arena->unlocked_blocks() == 1);
  CHECK(locker.holds(inside->data()));
  CHECK_FALSE(locker.holds(outside->data()));
  CHECK(all_zero(outside));
  CHECK(arena->budget().used() == 1_MiB + arena->charged(1_MiB));
  CHECK_THROWS_AS(arena->allocate(2_MiB, "test", host_use::transferred), fault_error);
}

TEST_CASE("a locker's refusal is reported with the size of the pinned pool, and nothing stays locked") {
  test::recorded_locker willing, refusing{2};
  CHECK_THROWS_WITH(make_host_arena(1_GiB, {.lockers = {&willing, &refusing}, .size = 4_MiB, .piece = 1_MiB}),
                    Catch::Contains("4.0 MiB of host memory") && Catch::Contains("no page more") &&
                        Catch::Contains("ulimit -l"));
  CHECK(willing.locks().size() == 4);
  CHECK(willing.held().empty());
  CHECK(refusing.locks().size() == 2);
  CHECK(refusing.held().empty());
  CHECK(willing.strangers() + refusing.strangers() == 0);
}

TEST_CASE("a pinned pool beyond the cap is refused before a page of it is mapped") {
  test::recorded_locker locker;
  CHECK_THROWS_WITH(make_host_arena(1_MiB, {.lockers = {&locker}, .size = 1024_GiB * 1024}),
                    Catch::Contains("1.0 MiB") && Catch::Contains("[host] memory"));
  CHECK(locker.locks().empty());
}

TEST_CASE("a pinned pool and the other blocks never exceed the cap together") {
  test::recorded_locker locker;
  const byte_count kept = host_charge(1_MiB);
  const auto arena = make_host_arena(4_MiB + kept, {.lockers = {&locker}, .size = 4_MiB});
  const auto block = arena->allocate(1_MiB, "test");
  CHECK(refusal(*arena, 64_B).code == fault_code::out_of_memory);
  CHECK(arena->allocate(1_MiB, "test", host_use::transferred)->size() == 1_MiB);
  CHECK(arena->budget().peak() == 4_MiB + kept);
}

TEST_CASE("without a locker there is no pinned pool") {
  const auto arena = make_host_arena(1_GiB, {.lockers = {}, .size = 1024_GiB * 1024});
  CHECK(arena->pinned() == 0_B);
  CHECK(arena->budget().used() == 0_B);
  CHECK(all_zero(arena->allocate(3_MiB, "test", host_use::transferred)));
}

TEST_CASE("end_locks() ends the locks before the arena and its blocks are destroyed") {
  auto locker = std::make_unique<test::recorded_locker>();
  const auto arena = make_host_arena(1_GiB, {.lockers = {locker.get()}, .size = 4_MiB});
  const auto block = arena->allocate(1_MiB, "test", host_use::transferred);
  arena->end_locks(false);
  CHECK(locker->held().empty());
  locker.reset();
  block->floats().back() = 1.0f;
  CHECK(arena->allocate(1_MiB, "test", host_use::transferred)->size() == 1_MiB);
}

TEST_CASE("while a device hangs its pages stay locked and mapped") {
  test::recorded_locker locker;
  {
    const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = 4_MiB, .piece = 1_MiB});
    arena->end_locks(true);
  }
  REQUIRE(locker.held().size() == 4);
  locker.held().back().back() = std::byte{1};  // if the pages were unmapped, the program would end here
}

TEST_CASE("blocks of a pinned pool may outlive their arena") {
  test::recorded_locker locker;
  host_block_ptr block;
  {
    const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = 4_MiB});
    block = arena->allocate(3_MiB, "test", host_use::transferred);
  }
  CHECK(locker.held().empty());
  block->floats().back() = 1.0f;
  REQUIRE(block->floats().back() == 1.0f);
}

TEST_CASE("several threads may allocate from a pinned pool at once") {
  test::recorded_locker locker;
  const auto arena = make_host_arena(1_GiB, {.lockers = {&locker}, .size = 8_MiB});
  std::atomic<int> overwritten{0};
  test::in_parallel(400, [&](int i) {
    const byte_count n{1000 + 10000ull * static_cast<std::uint64_t>(i)};
    const auto block = arena->allocate(n, "test", host_use::transferred);
    const auto mine = static_cast<float>(i);
    std::ranges::fill(block->floats(), mine);
    if (std::ranges::count(block->floats(), mine) != static_cast<std::ptrdiff_t>(n.value() / 4)) ++overwritten;
  });
  REQUIRE(overwritten == 0);
  REQUIRE(arena->budget().used() == arena->pinned());
}
