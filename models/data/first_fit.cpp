#include "models/data/first_fit.hpp"

#include "models/data/batch_order.hpp"

#include <algorithm>
#include <bit>

namespace hydra {
namespace {

/// The space of all windows as a tree of maxima, so that the first one with enough of it is found in a descent.
class free_space {
 public:
  free_space(std::size_t windows, std::uint32_t each)
      : leaves_(std::bit_ceil(std::max<std::size_t>(windows, 1))), largest_(2 * leaves_, each) {}

  /// Takes `places`, which fit into an empty window, from the first window that has them.
  std::size_t take(std::uint32_t places) {
    std::size_t node = 1;
    while (node < leaves_) node = largest_[2 * node] >= places ? 2 * node : 2 * node + 1;
    const std::size_t window = node - leaves_;
    largest_[node] -= places;
    for (node /= 2; node > 0; node /= 2) largest_[node] = std::max(largest_[2 * node], largest_[2 * node + 1]);
    return window;
  }

 private:
  std::size_t leaves_;
  std::vector<std::uint32_t> largest_;  ///< 1: of all windows; the children of i are 2i and 2i + 1
};

}  // namespace

window_plan first_fit(std::span<const std::uint32_t> places, std::uint32_t window, std::uint64_t seed) {
  free_space space{places.size(), window};
  const std::vector<std::size_t> order = epoch_permutation(places.size(), seed, 0);
  std::vector<std::size_t> window_of(places.size());
  window_plan plan;
  for (const std::size_t record : order) {
    const std::size_t w = window_of[record] = space.take(places[record]);
    if (plan.begins.size() < w + 2) plan.begins.resize(w + 2);
    ++plan.begins[w + 1];
  }
  for (std::size_t w = 1; w < plan.begins.size(); ++w) plan.begins[w] += plan.begins[w - 1];
  std::vector<std::uint64_t> next = plan.begins;
  plan.records.resize(places.size());
  for (const std::size_t record : order) plan.records[next[window_of[record]]++] = static_cast<std::uint32_t>(record);
  return plan;
}

}  // namespace hydra
