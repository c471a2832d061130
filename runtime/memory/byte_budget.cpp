#include "runtime/memory/byte_budget.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/limited_counter.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

/// Shared by the budget and its reservations, so that a reservation that outlives the budget can still return its
/// bytes.
struct byte_budget::account {
  account(std::string n, byte_count limit) : name(std::move(n)), bytes(limit.value()) {}

  const std::string name;
  limited_counter bytes;
};

byte_budget::byte_budget(std::string name, byte_count limit)
    : account_(std::make_shared<account>(std::move(name), limit)) {}

std::optional<reservation> byte_budget::try_reserve(byte_count n) {
  if (!account_->bytes.try_add(n.value())) return std::nullopt;
  return reservation{account_, n};
}

reservation byte_budget::reserve(byte_count n, const std::string& what) {
  if (auto claim = try_reserve(n)) return *std::move(claim);
  throw fault_error{fault_code::out_of_memory,
                    fmt::format("{} needs {} of {}, which has {} left of {}", what, to_string(n), account_->name,
                                to_string(left()), to_string(limit()))};
}

byte_count byte_budget::limit() const noexcept { return byte_count{account_->bytes.limit()}; }

byte_count byte_budget::used() const noexcept { return byte_count{account_->bytes.used()}; }

byte_count byte_budget::peak() const noexcept { return byte_count{account_->bytes.peak()}; }

byte_count byte_budget::left() const { return byte_count{account_->bytes.left()}; }

reservation::reservation(std::shared_ptr<byte_budget::account> account, byte_count n) noexcept
    : account_(std::move(account)), bytes_(n) {}

reservation::reservation(reservation&& other) noexcept
    : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, byte_count{})) {}

reservation& reservation::operator=(reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  account_ = std::move(other.account_);
  bytes_ = std::exchange(other.bytes_, byte_count{});
  return *this;
}

reservation::~reservation() { release(); }

void reservation::release() noexcept {
  if (account_) account_->bytes.subtract(bytes_.value());
  account_.reset();
  bytes_ = byte_count{};
}

reservation reservation::split(byte_count n) {
  if (n > bytes_)
    throw fault_error{fault_code::internal,
                      fmt::format("cannot split {} B off a reservation of {} B", n.value(), bytes_.value())};
  bytes_ -= n;
  return reservation{account_, n};
}

}  // namespace hydra
