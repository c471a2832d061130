#pragma once
// Search for the best number of staging bytes.

#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra {

/// The candidate with the smallest cost (the smallest of several); none if no candidate has a cost. `cost(low, high)`
/// is a lower bound on the cost of every candidate in [low, high], none if none of them can have one, and exact for
/// low = high. Best-first search: the first single candidate that is taken from the queue is the answer.
template <class Cost>
std::optional<byte_count> best_staging(const std::vector<byte_count>& ascending, const Cost& cost) {
  struct range {
    typename decltype(cost(byte_count{}, byte_count{}))::value_type bound;
    std::size_t low, high;
    bool operator>(const range& o) const { return std::tie(bound, low) > std::tie(o.bound, o.low); }
  };
  std::priority_queue<range, std::vector<range>, std::greater<>> open;
  const auto look_at = [&](std::size_t low, std::size_t high) {
    if (auto bound = cost(ascending[low], ascending[high])) {
      open.push({*bound, low, high});
    }
  };
  if (!ascending.empty()) {
    look_at(0, ascending.size() - 1);
  }
  while (!open.empty()) {
    const auto next = open.top();
    open.pop();
    if (next.low == next.high) {
      return ascending[next.low];
    }
    const auto middle = next.low + (next.high - next.low) / 2;
    look_at(next.low, middle);
    look_at(middle + 1, next.high);
  }
  return std::nullopt;
}

}  // namespace hydra
