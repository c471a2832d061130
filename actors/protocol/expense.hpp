#pragma once
// What a run, a model or a device has taken. Whole numbers of the smallest unit that is shown, so that parts add up to
// the whole, to the last digit.

#include "runtime/base/bytes.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace hydra {

struct money {
  std::int64_t ten_thousandths = 0;  ///< of the run's currency
  bool operator==(const money&) const = default;
};

constexpr double amount_of(money m) noexcept { return static_cast<double>(m.ten_thousandths) / 1e4; }
inline money money_of(double amount) noexcept { return {std::llround(amount * 1e4)}; }

constexpr money operator+(money a, money b) noexcept { return {a.ten_thousandths + b.ten_thousandths}; }

struct expense {
  duration time{};                       ///< of devices, for which they are paid; whole milliseconds
  std::optional<money> cost{};           ///< none: nothing has a price
  std::optional<std::int64_t> joules{};  ///< none: neither measured nor stated
  bool operator==(const expense&) const = default;
};

/// What only one of them has counts in full.
template <class T>
std::optional<T> sum_of_known(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::optional(*a + *b) : a ? a : b;
}

inline expense operator+(const expense& a, const expense& b) {
  return {a.time + b.time, sum_of_known(a.cost, b.cost), sum_of_known(a.joules, b.joules)};
}

}  // namespace hydra
