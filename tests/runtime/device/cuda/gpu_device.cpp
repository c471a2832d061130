// Run by name on a machine with a GPU, runtime_tests "[gpu]", and by ctest on the GPU double. [large]: products that
// take a CPU minutes.

#include "runtime/device/device_block.hpp"
#include "runtime/memory/block_copy.hpp"
#include "runtime/memory/host_arena.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/support/cuda_plugin.hpp"
#include "tests/support/depth.hpp"
#include "tests/conformance/device.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/tensors.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/ones_ops.h>
#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

/// A part of GPU 0, with `space` bytes in addition to what the libraries take for themselves.
std::unique_ptr<device> part_of_gpu(byte_count space, const std::string& pool = "arena") {
  const auto make = [&](byte_count memory) {
    return make_gpu(
        {.name = "cuda:0", .options = {{"memory", std::to_string(memory.value())}, {"context", 0_B}, {"pool", pool}}});
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

/// The smallest page that the driver maps.
byte_count least_page() {
  const char* const kib = std::getenv("GPU_DOUBLE_PAGE_KIB");
  return kib != nullptr ? byte_count{std::stoull(kib) << 10} : 2_MiB;
}

/// Bytes that stay on a device for a while: copied in, doubled beside other tensors, copied out and freed by the copy's
/// queue.
struct visitor {
  visitor(bench& to, host_arena& arena, byte_count n, float value)
      : at(&to), size(n), home(arena.allocate(n, "there", host_use::transferred)),
        back(arena.allocate(n, "back", host_use::transferred)) {
    std::ranges::fill(home->floats(), value);
  }

  void arrive(byte_count beside) {
    const auto where = at->dev->info().torch_device;
    const auto in = at->submit(queue_kind::h2d, copy_in(home, size, block, where));
    const auto doubling = [here = block, where, beside] {
      tensor_of(beside, where).fill_(1);
      here->tensor.view(at::kFloat).mul_(2);
    };
    last = at->submit(queue_kind::compute, doubling, {in});
  }
  void leave() {
    const auto freeing = [here = block, out = copy_out(block, back)] {
      out();
      here->tensor.reset();
    };
    last = at->submit(queue_kind::d2h, freeing, {last});
  }
  void require_doubled() const {
    REQUIRE(at->log.wait_for(last).error.text == "");
    REQUIRE(std::ranges::all_of(back->floats(), [&](float x) { return x == 2 * home->floats()[0]; }));
  }

  bench* at;
  byte_count size;
  host_block_ptr home, back;
  std::shared_ptr<device_block> block = std::make_shared<device_block>();
  ticket last;
};

/// A device with room for 528 pages, three quarters of them used by visitors of all sizes, who leave in any order.
class lodging {
 public:
  ~lodging() { arena_->end_locks(false); }

  void admit(float value) {
    const auto size = quarters(random_() % 2 == 0 ? 32 : 384);
    while (used_ + size > page_ * 408) {
      make_room();
    }
    there_.emplace_back(b_, *arena_, size, value).arrive(quarters(256));
    used_ += size;
  }
  void empty() {
    while (used_ > byte_count{}) {
      make_room();
    }
  }

 private:
  byte_count quarters(std::size_t most) { return byte_count{(1 + random_() % most) * page_.value() / 4}; }

  void make_room() {
    if (!there_.empty()) {
      std::swap(there_[random_() % there_.size()], there_.back());
      there_.back().leave();
      leaving_.push_back(std::move(there_.back()));
      there_.pop_back();
    }
    if (leaving_.size() > 2 || there_.empty()) {
      leaving_.front().require_doubled();
      used_ -= leaving_.front().size;
      leaving_.pop_front();
    }
  }

  const byte_count page_ = least_page();
  bench b_{page_ * 528};
  const std::unique_ptr<host_arena> arena_ =
      make_host_arena(page_ * 4096, {.lockers = {b_.dev->locker()}, .size = page_ * 2048});
  std::mt19937 random_{test_seed()};
  std::vector<visitor> there_;
  std::deque<visitor> leaving_;
  byte_count used_;
};

at::Tensor ones(std::int64_t n, const std::string& where) {
  return at::_ops::ones::call(c10::fromIntArrayRefSlow({n, n}), at::kFloat, std::nullopt, at::Device(where),
                              std::nullopt);
}

void require_gpu() {
  INFO(why_no_gpu());
  REQUIRE(why_no_gpu().empty());
}

}  // namespace

TEST_CASE("a GPU says what energy it has used, and its parts say equal parts of that", "[.][gpu]") {
  const auto one = part_of_gpu(64_MiB);
  const auto before = one->energy();
  REQUIRE(before);  // of GPUs since Volta
  const auto other = part_of_gpu(64_MiB);
  const auto after = one->energy();
  REQUIRE(after);
  CHECK(after->joules >= before->joules);
  CHECK(std::string{after->meter} == "nvml");
}

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
  const auto doubled =
      std::ranges::mismatch(home->floats(), back->floats(), [](float a, float c) { return 2 * a == c; });
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

TEST_CASE("where a GPU's memory is tight, pages move and all bytes come back", "[.][gpu][tight]") {
  require_gpu();
  lodging l;
  const auto unmapped = counted_by_double("cuMemUnmap");
  for (int i = 0; i < 400; ++i) {
    l.admit(static_cast<float>(i));
  }
  l.empty();
  if (unmapped) {
    REQUIRE(*counted_by_double("cuMemUnmap") - *unmapped > 100);
    REQUIRE(*counted_by_double("cuMemSetAccess") < *counted_by_double("cuMemMap"));  // neighbours at once
  }
}

TEST_CASE("what LibTorch says of a GPU's failure names device, operation and what to do", "[.][gpu]") {
  require_gpu();
  bench b(64_MiB);
  const auto said_of = [&b](const std::function<void()>& work) {
    return b.log.wait_for(b.submit(queue_kind::compute, work)).error;
  };
  const auto error = [](int code, const char* text) { throw c10::AcceleratorError({"f", "f.cu", 1}, code, text); };
  const auto invalid =
      said_of([=] { error(1, "CUDA error: invalid argument\nCUDA kernel errors might be reported later"); });
  CHECK(invalid.code == fault_code::internal);
  CHECK_THAT(invalid.text, Catch::StartsWith("test on cuda:0: CUDA: an operator of LibTorch has failed: ") &&
                               Catch::Contains("dmesg") && !Catch::Contains("kernel errors"));
  CHECK(said_of([=] { error(2, "CUDA error: out of memory"); }).code == fault_code::out_of_memory);
  const auto of_library =
      said_of([] { TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `f`\nmore"); });
  CHECK_THAT(of_library.text, Catch::Contains("CUBLAS_STATUS_EXECUTION_FAILED when calling `f`; nvidia-smi"));
  for (const auto* const status : {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `f`",
                                   "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"}) {
    const auto no_memory = said_of([status] { TORCH_CHECK(false, status); });
    CHECK(no_memory.code == fault_code::out_of_memory);
    CHECK_THAT(no_memory.text, Catch::Contains(status) && Catch::Contains("; the GPU has no memory left"));
  }
  const auto full = said_of([] {
    TORCH_CHECK_WITH(OutOfMemoryError, false,
                     "CUDA out of memory. Tried to allocate 2.00 GiB. If reserved but unallocated");
  });
  CHECK(full.code == fault_code::out_of_memory);
  CHECK_THAT(full.text, Catch::Contains("Tried to allocate 2.00 GiB; the GPU has no memory left") &&
                            !Catch::Contains("unallocated"));
  CHECK(said_of([] { TORCH_CHECK(false, "shapes do not match"); }).text == "test on cuda:0: shapes do not match");
  const auto lost = said_of([=] { error(700, "CUDA error: an illegal memory access"); });
  CHECK(lost.code == fault_code::device_lost);
  CHECK_THAT(lost.text, Catch::Contains("cannot use the GPU any more"));
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
    const auto x = ones(8192, where), y = ones(8192, where);
    auto sum = at::_ops::add_Tensor::call(x, y, 1);
    for (int i = 0; i < 16; ++i) at::_ops::add__Tensor::call(sum, x, 1);
    elapsed = meter->now() - start;
    peak = meter->peak();
  });
  REQUIRE_FALSE(b.log.wait_for(t).error);
  REQUIRE(peak >= 768_MiB);
  REQUIRE(elapsed > std::chrono::milliseconds(1));
  REQUIRE(b.dev->memory().peak <= b.dev->memory().budget);
}
