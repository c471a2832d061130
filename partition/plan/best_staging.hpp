#pragma once
// Search for the staging room.

#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace hydra {

/// The room of the smallest cost, of equal ones the smallest room; nothing if none has a cost. `cost(low, high)` is at
/// most the cost of every room in [low, high], nothing if none can have one, and exact for low = high. Best first: the
/// first single room that is taken is the answer, and most ranges are never looked into.
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
