#include "runtime/device/cpu/accounting_allocator.hpp"

#include "tests/support/in_parallel.hpp"
#include "tests/support/tensors.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_ops.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using hydra::test::tensor_of;

namespace {

constexpr byte_count unlimited{~0ull};

at::Tensor ones(std::int64_t rows, std::int64_t columns) {
  const std::array<c10::SymInt, 2> size{rows, columns};
  return at::_ops::ones::call(size, at::kFloat, std::nullopt, std::nullopt, std::nullopt);
}

/// Forward and backward of a small network: many allocations of different lifetimes, some inside the autograd engine.
void train_once(const at::Tensor& w1, const at::Tensor& w2) {
  const auto x = ones(32, 16);
  x.matmul(w1).tanh().matmul(w2).tanh().sum().backward();
}

/// Runs train_once on an account with this limit; false if it was out of memory. Nothing may remain charged.
bool fits(byte_count limit, memory_usage& seen) {
  memory_account account{limit};
  const auto w1 = ones(16, 24).requires_grad_();
  const auto w2 = ones(24, 8).requires_grad_();
  bool done = true;
  {
    const charge_to guard{account};
    try {
      train_once(w1, w2);
    } catch (const c10::OutOfMemoryError&) {
      done = false;
    }
  }
  w1.mutable_grad().reset();
  w2.mutable_grad().reset();
  seen = {account.used(), account.peak(), account.limit()};
  return done;
}

}  // namespace

TEST_CASE("tensors are charged rounded up to 512 bytes until they are freed") {
  memory_account account{1_MiB};
  const charge_to guard{account};
  const auto one = tensor_of(1_B);
  REQUIRE(account.used() == 512_B);
  {
    const auto more = tensor_of(513_B);
    REQUIRE(account.used() == 1536_B);
  }
  REQUIRE(account.used() == 512_B);
  REQUIRE(account.peak() == 1536_B);
  account.reset_peak();
  REQUIRE(account.peak() == 512_B);
}

TEST_CASE("an empty tensor costs nothing") {
  memory_account account{0_B};
  const charge_to guard{account};
  const auto nothing = tensor_of(0_B);
  REQUIRE(nothing.defined());
  REQUIRE(account.peak() == 0_B);
}

TEST_CASE("tensors without an account are not counted") {
  const memory_account account{0_B};
  const auto host = tensor_of(1_MiB);
  REQUIRE(account.used() == 0_B);
}

TEST_CASE("a tensor is credited to the account that was charged, whichever thread frees it under whichever account") {
  memory_account first{1_MiB};
  memory_account second{1_MiB};
  at::Tensor tensor;
  {
    const charge_to guard{first};
    tensor = tensor_of(4_KiB);
  }
  std::thread{[&] {
    const charge_to guard{second};
    tensor.reset();
  }}.join();
  REQUIRE(first.used() == 0_B);
  REQUIRE(first.peak() == 4_KiB);
  REQUIRE(second.peak() == 0_B);
}

TEST_CASE("guards nest and concern only their own thread") {
  memory_account outer{1_MiB};
  memory_account inner{1_MiB};
  const charge_to guard{outer};
  {
    const charge_to nested{inner};
    tensor_of(1_KiB);
  }
  std::thread{[] { tensor_of(2_KiB); }}.join();
  tensor_of(4_KiB);
  REQUIRE(inner.peak() == 1_KiB);
  REQUIRE(outer.peak() == 4_KiB);
}

TEST_CASE("a limit is exact at its boundary, and a refusal states the numbers") {
  memory_account account{8_KiB};
  const charge_to guard{account};
  const auto most = tensor_of(8_KiB - 512_B);
  { const auto last = tensor_of(512_B); }
  try {
    tensor_of(513_B);
    FAIL("the limit was passed");
  } catch (const c10::OutOfMemoryError& e) {
    REQUIRE_THAT(e.what_without_backtrace(),
                 Catch::Contains("1.0 KiB") && Catch::Contains("7.5 KiB of the budget of 8.0 KiB"));
  }
  REQUIRE(account.used() == 8_KiB - 512_B);
  REQUIRE(account.peak() == 8_KiB);
}

TEST_CASE("training succeeds with its peak as the limit, fails with 512 bytes less, and leaves nothing charged") {
  memory_usage seen;
  REQUIRE(fits(unlimited, seen));
  REQUIRE(fits(unlimited, seen));  // the first run may have filled caches of libraries
  const byte_count peak = seen.peak;
  REQUIRE(peak > 8_KiB);
  REQUIRE(seen.used == 0_B);
  REQUIRE(fits(peak, seen));
  REQUIRE(seen.peak == peak);
  for (byte_count limit = peak; limit > 0_B;) {
    limit -= 512_B;
    CAPTURE(limit.value(), peak.value());
    REQUIRE_FALSE(fits(limit, seen));
    REQUIRE(seen.used == 0_B);
    REQUIRE(seen.peak <= limit);
  }
}

TEST_CASE("data starts at its own context and at a cache line, as oneDNN requires") {
  memory_account account{1_MiB};
  const charge_to guard{account};
  auto* const allocator = c10::GetAllocator(c10::kCPU);
  REQUIRE(allocator->raw_deleter() != nullptr);
  for (const std::size_t n : {1u, 64u, 1000u, 4096u}) {
    void* const raw = allocator->raw_allocate(n);
    REQUIRE(reinterpret_cast<std::uintptr_t>(raw) % 64 == 0);
    REQUIRE(account.used() == charged_bytes(byte_count{n}));
    allocator->raw_deallocate(raw);
    REQUIRE(account.used() == 0_B);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they end the program at such a size
TEST_CASE("memory the host does not have is out of memory and not charged") {
  memory_account account{unlimited};
  const charge_to guard{account};
  REQUIRE_THROWS_AS(tensor_of(byte_count{1ull << 62}), c10::OutOfMemoryError);
  REQUIRE(account.used() == 0_B);
}
#endif

TEST_CASE("an account's slot is not reused before everything charged to it is freed") {
  auto first = std::make_unique<memory_account>(1_MiB);
  const auto place = first->index();
  at::Tensor late;
  {
    const charge_to guard{*first};
    late = tensor_of(4_KiB);
  }
  first.reset();
  REQUIRE(memory_account{1_MiB}.index() != place);
  late.reset();
  const memory_account again{2_MiB};
  REQUIRE(again.index() == place);
  REQUIRE(again.peak() == 0_B);
  REQUIRE(again.limit() == 2_MiB);
}

TEST_CASE("a full table is a fault, not a wrong charge") {
  std::vector<std::unique_ptr<memory_account>> all;
  for (int i = 0; i < static_cast<int>(most_memory_accounts); ++i)
    all.push_back(std::make_unique<memory_account>(1_MiB));
  try {
    const memory_account one_more{1_MiB};
    FAIL("there was a free slot");
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::internal);
  }
  all.pop_back();
  REQUIRE(memory_account{1_MiB}.index() != 0);
}

TEST_CASE("several threads may charge one account") {
  memory_account account{64_KiB};
  std::atomic<int> refused = 0;
  test::in_parallel(2000, [&](int i) {
    const charge_to guard{account};
    std::minstd_rand random{static_cast<unsigned>(i) + 1};
    std::vector<at::Tensor> mine;
    for (int k = 0; k < 8; ++k) {
      try {
        mine.push_back(tensor_of(byte_count{random() % 16000}));
      } catch (const c10::OutOfMemoryError&) {
        ++refused;
      }
    }
  });
  REQUIRE(account.used() == 0_B);
  REQUIRE(account.peak() <= 64_KiB);
  REQUIRE(refused > 0);
}

TEST_CASE("a tensor of the CPU never comes from a pool of another device's memory") {
  struct foreign_pool final : tensor_pool {
    c10::DeviceType device_type() const noexcept override { return c10::kCUDA; }
    void* allocate(std::size_t) override { throw std::logic_error{"memory that the host cannot write"}; }
    void release(void*) noexcept override {}
  };
  install_accounting_allocator();
  const allocate_from launching{std::make_shared<foreign_pool>()};
  REQUIRE(tensor_of(512_B).defined());
  REQUIRE_FALSE(current_pool(c10::kCPU));
  REQUIRE(current_pool(c10::kCUDA));
}
