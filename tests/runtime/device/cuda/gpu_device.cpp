// Run by name on a machine with a GPU: runtime_tests "[gpu]". [large]: products that take a CPU minutes.

#include "runtime/device/device_block.hpp"
#include "runtime/memory/block_copy.hpp"
#include "runtime/memory/host_arena.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/support/cuda_plugin.hpp"
#include "tests/support/device_conformance.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/tensors.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/ones_ops.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// A part of GPU 0, with `space` bytes in addition to what the libraries take for themselves.
std::unique_ptr<device> part_of_gpu(byte_count space, const std::string& pool = "arena") {
  const auto make = [&](byte_count memory) {
    return make_gpu({.name = "cuda:0", .options = {{"memory", std::to_string(memory.value())}, {"context", 0_B}, {"pool", pool}}});
  };
  byte_count own;
  {
    const auto probe = make(1_GiB);
    own = probe->memory().used;
  }
  return make(own + space);
}

struct bench {
  explicit bench(byte_count space) : dev(part_of_gpu(space)) { dev->on_completion(log.sink()); }

  ticket submit(queue_kind queue, std::function<void()> work, const std::vector<ticket>& after = {}) {
    operation op;
    op.work = std::move(work);
    op.label.name = "test";
    return dev->submit(queue, std::move(op), after);
  }

  completion_log log;
  std::unique_ptr<device> dev;
};

at::Tensor ones(std::int64_t n, const std::string& where) {
  return at::_ops::ones::call(c10::fromIntArrayRefSlow({n, n}), at::kFloat, std::nullopt, at::Device(where), std::nullopt);
}

void require_gpu() {
  INFO(why_no_gpu());
  REQUIRE(why_no_gpu().empty());
}

}  // namespace

TEST_CASE("a GPU conforms", "[.][gpu]") {
  require_gpu();
  conforms([](byte_count budget) { return part_of_gpu(budget); });
}

TEST_CASE("LibTorch's own allocator conforms, too", "[.][gpu]") {
  require_gpu();
  conforms([](byte_count budget) { return part_of_gpu(budget, "expandable"); });
}

TEST_CASE("bytes go to a GPU and come back", "[.][gpu]") {
  require_gpu();
  const auto arena = make_host_arena(1_GiB);
  bench b(256_MiB);
  const auto home = arena->allocate(32_MiB, "there");
  const auto back = arena->allocate(32_MiB, "back");
  for (std::size_t i = 0; i < home->floats().size(); ++i) {
    home->floats()[i] = static_cast<float>(i);
  }
  const auto block = std::make_shared<device_block>();
  const auto in = b.submit(queue_kind::h2d, copy_in(home, 32_MiB, block, b.dev->info().torch_device));
  const auto twice = b.submit(queue_kind::compute, [block] { block->tensor.view(at::kFloat).mul_(2); }, {in});
  const auto out = b.submit(queue_kind::d2h, copy_out(block, back), {twice});
  REQUIRE_FALSE(b.log.wait_for(out).error);
  const auto doubled = std::ranges::mismatch(home->floats(), back->floats(), [](float a, float c) { return 2 * a == c; });
  REQUIRE(doubled.in1 == home->floats().end());
}

TEST_CASE("a GPU's computations follow each other without waiting for the host", "[.][gpu][large]") {
  require_gpu();
  std::atomic<int> launched = 0;
  bench b(1_GiB);
  const auto where = b.dev->info().torch_device;
  std::vector<ticket> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(b.submit(queue_kind::compute, [&launched, where] {
      at::_ops::mm::call(ones(8192, where), ones(8192, where));  // tens of milliseconds
      ++launched;
    }));
  }
  REQUIRE_FALSE(b.log.wait_for(all.front()).error);
  REQUIRE(launched > 1);
  for (const auto t : all) {
    REQUIRE_FALSE(b.log.wait_for(t).error);
  }
  REQUIRE(b.dev->memory().peak <= b.dev->memory().budget);
}

TEST_CASE("two devices share one GPU, each in its own budget", "[.][gpu]") {
  require_gpu();
  bench a(64_MiB), c(64_MiB);
  for (auto* b : {&a, &c}) {
    const auto where = b->dev->info().torch_device;
    REQUIRE_FALSE(b->log.wait_for(b->submit(queue_kind::compute, [where] { tensor_of(48_MiB, where); })).error);
    REQUIRE(b->log.wait_for(b->submit(queue_kind::compute, [where] { tensor_of(96_MiB, where); })).error.code ==
            fault_code::out_of_memory);
  }
}

TEST_CASE("a GPU's meter counts bytes beyond the budget, and time on the device", "[.][gpu]") {
  require_gpu();
  bench b(64_MiB);
  const auto where = b.dev->info().torch_device;
  byte_count peak;
  duration elapsed{};
  const auto t = b.submit(queue_kind::compute, [&] {
    const auto meter = b.dev->measure();
    const auto start = meter->now();
    const auto product = at::_ops::mm::call(ones(8192, where), ones(8192, where));
    elapsed = meter->now() - start;
    peak = meter->peak();
  });
  REQUIRE_FALSE(b.log.wait_for(t).error);
  REQUIRE(peak >= 768_MiB);
  REQUIRE(elapsed > std::chrono::milliseconds(1));
  REQUIRE(b.dev->memory().peak <= b.dev->memory().budget);
}
