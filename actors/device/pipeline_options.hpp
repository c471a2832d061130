#pragma once
// How a device stages, caches and copies.

#include "runtime/base/bytes.hpp"

#include <algorithm>
#include <cstdint>

namespace hydra {

struct pipeline_options {
  std::uint32_t slots = 1;         ///< most units staged besides the one computing; 1 = the paper's double buffer
  bool double_buffer = true;       ///< false: the credit is returned when the device becomes idle
  bool cache = true;               ///< false: blocks are freed with their visit
  bool copy_back_clean = false;    ///< true: unchanged parameters of forward visits are copied to the host (ablation)
  bool save = true;                ///< false: backward visits always compute the forward again
  bool labels = true;              ///< operations have labels, for spans and faults
  byte_count staging_bytes{};      ///< X of the plan: outputs stay cached only while so many bytes can still be staged
  byte_count computing_bytes{};    ///< max P + C of the plan; memory beyond both is for saved tensors. 0: not known
  byte_count write_back_bytes{};   ///< of C, those of the unit before, while they are copied to the host

  /// Units that a device of that memory can stage besides the one that computes: one, and those for which it has X
  /// bytes next to what that one and the unit before need.
  std::uint32_t slots_in(byte_count memory) const noexcept {
    if (!double_buffer || slots == 1) {
      return 1;
    }
    if (computing_bytes == byte_count{} || staging_bytes == byte_count{}) {
      return slots;
    }
    const auto units = staging_bytes + computing_bytes + write_back_bytes;
    const auto more = memory > units ? (memory.value() - units.value()) / staging_bytes.value() : 0;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(slots, 1 + more));
  }

  /// Of the memory of a device: what its largest units leave, staged ones included, so that saved tensors keep no unit
  /// waiting but those of larger models that have joined.
  byte_count saving_room(byte_count memory) const noexcept {
    const auto staged = slots_in(memory);
    const auto units = staging_bytes * staged + computing_bytes + (staged > 1 ? write_back_bytes : byte_count{});
    const bool saves = save && cache && computing_bytes > byte_count{};
    return saves && memory > units ? byte_count{memory.value() - units.value()} : byte_count{};
  }
};

}  // namespace hydra
