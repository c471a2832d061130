#pragma once
// The position of each parameter's moments in the moment buffers of a range of layers.

#include "models/optimizer/update_rule.hpp"
#include "models/parameter_layout.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

/// Moments of one parameter, in bytes from the start of each moment buffer. In fp32, or in blocks: the largest value of
/// each block in fp32, then a code for each value. Blocks begin with their parameter, so its bits do not depend on where
/// the model is cut.
struct moment_place {
  std::size_t offset = 0;
  std::size_t elements = 0;  ///< 0: it has none
  bool in_blocks = false;
};

/// Of a layout whose parameters are stepped by a rule. All moment buffers of a shard are alike.
class moment_layout {
 public:
  moment_layout(const parameter_layout& layout, update_kind kind);

  /// Of the layout's parameters, in their order.
  const std::vector<moment_place>& places() const noexcept { return places_; }
  byte_count bytes() const noexcept { return byte_count{bytes_}; }  ///< of one buffer

 private:
  std::vector<moment_place> places_;
  std::size_t bytes_ = 0;
};

/// The moments in a buffer; empty if they are of the other kind.
std::span<float> floats_at(const moment_place& place, std::span<std::byte> buffer);
block_moment blocks_at(const moment_place& place, std::span<std::byte> buffer);

}  // namespace hydra
