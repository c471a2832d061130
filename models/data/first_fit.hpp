#pragma once
// Which records share a window.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Windows, each with the records that it holds.
struct window_plan {
  std::vector<std::uint32_t> records;
  /// window w holds records[begins[w]] up to records[begins[w + 1]]; one more at the end
  std::vector<std::uint64_t> begins;

  std::size_t size() const noexcept { return begins.empty() ? 0 : begins.size() - 1; }
  std::span<const std::uint32_t> window(std::size_t w) const {
    return std::span{records}.subspan(begins[w], begins[w + 1] - begins[w]);
  }
};

/// First fit: the records, in an order that depends on their number and the seed only, each go into the first window
/// with space for them. `places[i]`, at most `window`, is what record i takes. In O(n log n). Uses at most 1.7 times as
/// many windows as the best packing (Dosa and Sgall 2013).
window_plan first_fit(std::span<const std::uint32_t> places, std::uint32_t window, std::uint64_t seed);

}  // namespace hydra
