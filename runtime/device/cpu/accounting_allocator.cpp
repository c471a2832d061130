#include "runtime/device/cpu/accounting_allocator.hpp"

#include "runtime/base/limited_counter.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint32_t host = 0;
constexpr std::uint32_t capacity = most_memory_accounts + 1;

struct alignas(64) account_slot {  // one cache line each: the accounts of different devices are charged concurrently
  limited_counter bytes;
  std::atomic<bool> taken{false};
};

/// The only mutable state of the process. It must be static: tensors may be freed after all accounts are gone, even
/// during exit.
constinit std::array<account_slot, capacity> table;
constinit thread_local std::uint32_t payer = host;

/// Stored directly before the data, so that data pointer and context of a tensor's storage are the same address (oneDNN
/// allocates by raw_allocate, which asserts that) and a release needs no look-up.
struct alignas(64) block_header {
  std::uint32_t account;
  std::uint64_t charged;
  std::shared_ptr<tensor_pool> pool{};  ///< null: the heap
};
static_assert(sizeof(block_header) == 64, "data must keep the 64-byte alignment of c10::alloc_cpu");

void credit(std::uint32_t account, std::uint64_t charged) noexcept {
  if (account != host) table[account].bytes.subtract(charged);
}

[[noreturn]] void refuse(std::uint32_t account, std::uint64_t wanted) {
  const auto& bytes = table[account].bytes;
  TORCH_CHECK_WITH(OutOfMemoryError, false, "a tensor of ", to_string(byte_count{wanted}),
                   " does not fit: ", to_string(byte_count{bytes.used()}), " of the budget of ",
                   to_string(byte_count{bytes.limit()}), " are in use");
}

void charge(std::uint32_t account, std::uint64_t wanted) {
  if (account != host && !table[account].bytes.try_add(wanted)) refuse(account, wanted);
}

/// The host's own refusal is treated like a full budget (LibTorch throws a plain error for it).
void* allocate_on_host(std::size_t n) {
  try {
    return c10::alloc_cpu(n);
  } catch (const c10::Error& e) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, e.what_without_backtrace());
  }
}

void* allocate_charged(std::size_t n) {
  const std::uint32_t account = payer;
  const std::uint64_t charged = charged_bytes(byte_count{n}).value();
  charge(account, charged);
  try {
    return new (allocate_on_host(n + sizeof(block_header))) block_header{account, charged} + 1;
  } catch (...) {
    credit(account, charged);
    throw;
  }
}

/// A pool does its own accounting.
void* allocate_pooled(const std::shared_ptr<tensor_pool>& pool, std::size_t n) {
  return new (pool->allocate(n + sizeof(block_header))) block_header{host, 0, pool} + 1;
}

/// The deleter of every tensor, on any thread: credits the account that was charged.
void release(void* data) {
  if (data == nullptr) return;
  auto* header = static_cast<block_header*>(data) - 1;
  credit(header->account, header->charged);
  const auto pool = std::move(header->pool);
  std::destroy_at(header);
  pool ? pool->release(header) : c10::free_cpu(header);
}

class accounting_allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t n) override {
    const auto& pool = current_pool(c10::kCPU);
    void* data = n == 0 ? nullptr : pool ? allocate_pooled(pool, n) : allocate_charged(n);
    return {data, data, &release, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }

  void copy_data(void* to, const void* from, std::size_t n) const override { default_copy_data(to, from, n); }
};

/// A slot is free when its account has been destroyed and everything charged to it has been freed.
bool try_take(account_slot& slot, byte_count limit) {
  if (slot.taken.exchange(true)) return false;
  if (slot.bytes.used() != 0) {
    slot.taken = false;
    return false;
  }
  slot.bytes.restart(limit.value());
  return true;
}

std::uint32_t take_slot(byte_count limit) {
  for (std::uint32_t i = host + 1; i < capacity; ++i)
    if (try_take(table[i], limit)) return i;
  throw fault_error{
      fault_code::internal,
      fmt::format("all {} memory accounts are in use: too many devices or pilots at once", most_memory_accounts)};
}

}  // namespace

memory_account::memory_account(byte_count limit) : index_(take_slot(limit)) {
  install_accounting_allocator();  // without it nothing is charged
}

memory_account::~memory_account() { table[index_].taken = false; }

byte_count memory_account::used() const noexcept { return byte_count{table[index_].bytes.used()}; }

byte_count memory_account::peak() const noexcept { return byte_count{table[index_].bytes.peak()}; }

byte_count memory_account::limit() const noexcept { return byte_count{table[index_].bytes.limit()}; }

void memory_account::reset_peak() noexcept { table[index_].bytes.reset_peak(); }

charge_to::charge_to(const memory_account& account) noexcept : previous_(payer) { payer = account.index(); }

charge_to::~charge_to() { payer = previous_; }

void install_accounting_allocator() {
  static accounting_allocator allocator;
  [[maybe_unused]] static const bool installed = (c10::SetAllocator(c10::kCPU, &allocator, 255), true);
}

}  // namespace hydra
