#pragma once
// The position of each parameter's moments in the moment buffers of a range of layers.

#include "models/optimizer/moment_block.hpp"
#include "models/optimizer/update_rule.hpp"
#include "models/parameter_layout.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

/// Values of one parameter in one moment buffer, in bytes from its start. In fp32, or in blocks: the largest value of
/// each block in fp32, then a code for each value. Blocks begin with their parameter, so its bits do not depend on
/// where the model is cut.
struct moment_place {
  std::size_t offset = 0;
  std::size_t elements = 0;  ///< 0: it has none
  bool in_blocks = false;
};

/// Of a layout whose parameters are stepped by a rule, which may have another number of values for each parameter and
/// buffer.
class moment_layout {
 public:
  moment_layout(const parameter_layout& layout, const update_options& rule);

  std::size_t buffers() const noexcept { return buffers_.size(); }
  /// Of the layout's parameters, in their order.
  const std::vector<moment_place>& places(std::size_t buffer) const { return buffers_.at(buffer).places; }
  byte_count bytes(std::size_t buffer) const { return byte_count{buffers_.at(buffer).bytes}; }

 private:
  struct moment_buffer {
    std::vector<moment_place> places;
    std::size_t bytes = 0;
  };
  std::vector<moment_buffer> buffers_;
};

/// The moments in a buffer; empty if they are of the other kind.
std::span<float> floats_at(const moment_place& place, std::span<std::byte> buffer);
block_moment blocks_at(const moment_place& place, std::span<std::byte> buffer);

}  // namespace hydra
