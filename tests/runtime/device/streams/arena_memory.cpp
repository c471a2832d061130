#include "runtime/device/streams/arena_memory.hpp"

#include "tests/support/gate.hpp"
#include "tests/support/host_pages.hpp"

#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using hydra::test::gate;
using hydra::test::make_host_pages;

namespace {

constexpr launch_point computation(std::uint64_t n) { return {queue_kind::compute, ticket{n}}; }

/// No work is ever in progress in these tests.
void done() {}

std::shared_ptr<arena_memory> memory_of(byte_count n, byte_count beside = {}) {
  constexpr auto page = 4_KiB;
  return std::make_shared<arena_memory>(make_host_pages(page, n.value() / page.value()), beside);
}

/// Three threads write into what they allocate, launch by launch; each checks its bytes before it frees them.
struct writers {
  explicit writers(arena_memory& m) : memory(m) {}

  void write(queue_kind queue, std::uint32_t seed) {
    std::mt19937 generator(seed);
    for (std::uint64_t i = 1; i <= 300; ++i) {
      const launch_point here{queue, ticket{i}};
      std::vector<std::pair<std::byte*, std::size_t>> blocks;
      const auto value = static_cast<std::byte>(generator());
      {
        const auto scope = memory.launch(here, done);
        for (int k = 0; k < 3; ++k) {
          const std::size_t n = (70 << 10) + generator() % (30 << 10);  // nine of them almost fill the arena
          blocks.emplace_back(static_cast<std::byte*>(memory.allocate(n)), n);
          std::fill_n(blocks.back().first, n, value);
        }
        free_last(blocks, value);
      }
      while (!blocks.empty()) {
        free_last(blocks, value);
      }
      memory.retire(here);
    }
  }

  void free_last(std::vector<std::pair<std::byte*, std::size_t>>& blocks, std::byte value) {
    const auto [p, n] = blocks.back();
    wrong += std::count_if(p, p + n, [value](std::byte b) { return b != value; });
    memory.release(p);
    blocks.pop_back();
  }

  arena_memory& memory;
  std::atomic<std::int64_t> wrong = 0;
};

/// Pages of the host; tests override a part.
class altered_pages : public page_source {
 public:
  c10::DeviceType device_type() const noexcept override { return pages_->device_type(); }
  std::byte* base() const noexcept override { return pages_->base(); }
  byte_count page() const noexcept override { return pages_->page(); }
  std::size_t pages() const noexcept override { return pages_->pages(); }
  std::size_t spread() const noexcept override { return pages_->spread(); }
  void map(std::span<const std::pair<std::size_t, std::size_t>> places) override { pages_->map(places); }
  void unmap(std::size_t place) override { pages_->unmap(place); }

 private:
  const std::unique_ptr<page_source> pages_ = make_host_pages(4_KiB, 16);
};

/// The first cannot be mapped.
class stubborn_pages final : public altered_pages {
 public:
  void map(std::span<const std::pair<std::size_t, std::size_t>> places) override {
    if (std::exchange(first_, false)) throw fault_error(fault_code::device_lost, "a page cannot be mapped");
    altered_pages::map(places);
  }

 private:
  bool first_ = true;
};

/// Mapped when a gate is open.
class slow_pages final : public altered_pages {
 public:
  slow_pages(gate& begun, gate& go, std::atomic<bool>& in_time) : begun_(begun), go_(go), in_time_(in_time) {}

  void map(std::span<const std::pair<std::size_t, std::size_t>> places) override {
    begun_.open();
    in_time_ = go_.wait();
    altered_pages::map(places);
  }

 private:
  gate& begun_;
  gate& go_;
  std::atomic<bool>& in_time_;
};

}  // namespace

TEST_CASE("once a page could not be mapped, an arena gives out nothing any more") {
  const auto memory = std::make_shared<arena_memory>(std::make_unique<stubborn_pages>());
  const auto scope = memory->launch(computation(1), done);
  REQUIRE(memory->try_allocate(1000) == nullptr);
  REQUIRE(memory->try_allocate(1000) == nullptr);
  REQUIRE_THROWS_WITH(memory->allocate(1000), "a page cannot be mapped");
}

TEST_CASE("bytes of an arena are released while a driver moves pages, and taken when it has") {
  gate begun, go;
  std::atomic<bool> in_time = false, taken = false;
  const auto memory = std::make_shared<arena_memory>(std::make_unique<slow_pages>(begun, go, in_time));
  std::thread first{[&] {
    const auto scope = memory->launch(computation(1), done);
    memory->release(memory->allocate(1000));
  }};
  REQUIRE(begun.wait());
  std::thread second{[&] {  // for bytes in the page that is not mapped yet
    const auto scope = memory->launch({queue_kind::h2d, ticket{2}}, done);
    *static_cast<char*>(memory->allocate(1000)) = 1;
    taken = true;
  }};
  memory->launch({queue_kind::d2h, ticket{3}}, done);
  memory->retire({queue_kind::d2h, ticket{3}});
  const bool early = taken;
  go.open();
  first.join();
  second.join();
  REQUIRE(in_time);  // nothing above has waited for the driver
  REQUIRE_FALSE(early);
  REQUIRE(taken);
}

TEST_CASE("a thread allocates from an arena while it launches for it") {
  const auto memory = memory_of(1_MiB, 3_MiB);
  REQUIRE_FALSE(current_pool(c10::kCPU));
  {
    const auto scope = memory->launch(computation(1), done);
    REQUIRE(current_pool(c10::kCPU) == memory);
    void* const p = current_pool(c10::kCPU)->allocate(1000);
    REQUIRE(p != nullptr);
    REQUIRE(memory->usage().used == 3_MiB + 1_KiB);
    current_pool(c10::kCPU)->release(p);
  }
  REQUIRE_FALSE(current_pool(c10::kCPU));
  REQUIRE(memory->usage().used == 3_MiB);
  REQUIRE(memory->usage().peak == 3_MiB + 1_KiB);
  REQUIRE(memory->usage().budget == 4_MiB);
}

TEST_CASE("an arena without work in progress says how many bytes are missing") {
  const auto memory = memory_of(1_MiB);
  const auto scope = memory->launch(computation(1), done);
  void* const half = memory->allocate(512 << 10);
  REQUIRE(memory->try_allocate(1 << 20) == nullptr);
  REQUIRE_THROWS_WITH(memory->allocate(768 << 10),
                      Catch::Contains("768.0 KiB are needed; of the device's 1.0 MiB, 512.0 KiB"));
  memory->release(half);
  REQUIRE(memory->usage().used == 0_B);
}

TEST_CASE("a thread that launches ahead of the device waits for the bytes of earlier launches") {
  const auto memory = memory_of(1_MiB);
  void* held = nullptr;
  {
    const auto scope = memory->launch(computation(1), done);
    held = memory->allocate(1 << 20);
  }
  gate began;
  std::atomic<bool> got = false;
  std::thread ahead{[&] {
    const auto scope = memory->launch(computation(2), done);
    began.open();
    memory->release(memory->allocate(1 << 20));
    got = true;
  }};
  const bool waiting = began.wait();
  const bool early = got;
  memory->release(held);  // by a thread that launches nothing: it is known to be done
  memory->retire(computation(1));
  ahead.join();
  REQUIRE(waiting);
  REQUIRE_FALSE(early);
  REQUIRE(got);
}

TEST_CASE("a queue that would be out of memory waits for its own work, then its pages may be remapped") {
  const auto memory = memory_of(1_MiB);
  int drained = 0;
  const auto scope = memory->launch(computation(1), [&] { ++drained; });
  constexpr std::size_t quarter = 256 << 10;
  std::array<void*, 4> blocks{};
  for (auto& b : blocks) {
    b = memory->allocate(quarter);
  }
  memory->release(blocks[0]);
  memory->release(blocks[2]);
  // half of it is free, in two places that kernels may still be using
  REQUIRE(memory->try_allocate(2 * quarter) == nullptr);
  REQUIRE(memory->allocate(2 * quarter) != nullptr);
  REQUIRE(drained == 1);
  REQUIRE(memory->moves() > 0);
  REQUIRE_THROWS_AS(memory->allocate(512), c10::OutOfMemoryError);
}

TEST_CASE("a copy waits for bytes that a computation frees while it is being launched") {
  const auto memory = memory_of(1_MiB);
  gate waits;
  std::atomic<bool> got = false;
  std::thread copy;
  {
    const auto scope = memory->launch(computation(1), done);
    memory->release(memory->allocate(1 << 20));
    copy = std::thread{[&] {
      const auto mine = memory->launch({queue_kind::h2d, ticket{2}}, [&] { waits.open(); });
      waits.open();
      memory->release(memory->allocate(1 << 20));
      got = true;
    }};
    REQUIRE(waits.wait());
  }
  memory->retire(computation(1));
  copy.join();
  REQUIRE(got);
}

TEST_CASE("no thread waits for an arena's bytes after end()") {
  const auto memory = memory_of(1_MiB);
  {
    const auto scope = memory->launch(computation(1), done);
    memory->allocate(1 << 20);
  }
  std::atomic<bool> refused = false;
  std::thread waiting{[&] {
    const auto scope = memory->launch(computation(2), done);
    try {
      memory->allocate(1 << 20);
    } catch (const c10::OutOfMemoryError&) {
      refused = true;
    }
  }};
  memory->give_up();
  waiting.join();
  REQUIRE(refused);
}

TEST_CASE("threads that write into one arena get disjoint bytes") {
  const auto memory = memory_of(1_MiB);
  writers w(*memory);
  std::vector<std::thread> threads;
  for (const auto queue : {queue_kind::compute, queue_kind::h2d, queue_kind::d2h}) {
    threads.emplace_back([&w, queue] { w.write(queue, static_cast<std::uint32_t>(queue)); });
  }
  for (auto& t : threads) {
    t.join();
  }
  REQUIRE(w.wrong == 0);
  REQUIRE(memory->usage().used == 0_B);
  REQUIRE(memory->usage().peak <= memory->usage().budget);
}

TEST_CASE("bytes in use keep their content when pages are remapped") {
  const auto memory = memory_of(1_MiB);
  const auto scope = memory->launch(computation(1), done);
  constexpr std::size_t quarter = 256 << 10;
  std::array<std::byte*, 4> blocks{};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = static_cast<std::byte*>(memory->allocate(quarter));
    std::fill_n(blocks[i], quarter, static_cast<std::byte>(i));
  }
  std::thread{[&] {  // one that launches nothing: pages may move at once
    memory->release(blocks[0]);
    memory->release(blocks[2]);
  }}.join();
  auto* const half = static_cast<std::byte*>(memory->allocate(2 * quarter));
  std::fill_n(half, 2 * quarter, std::byte{9});
  REQUIRE(memory->moves() == 2 * quarter / 4096);
  for (const std::size_t i : {1u, 3u}) {
    REQUIRE(std::all_of(blocks[i], blocks[i] + quarter, [i](std::byte b) { return b == static_cast<std::byte>(i); }));
  }
}
