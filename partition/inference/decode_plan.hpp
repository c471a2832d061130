#pragma once
// Generation on a device whose memory the model may exceed: what stays there, and what is copied for every token.

#include "partition/profile/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hydra {

/// Lengths of the texts to be generated, in tokens.
struct decode_lengths {
  std::int64_t prompt = 1;   ///< given in one pass
  std::int64_t longest = 1;  ///< prompt and generated ones together
};

/// Bytes of one layer, as charged.
struct decode_cost {
  byte_count parameters;
  byte_count memory;   ///< what it remembers of the longest text
  byte_count working;  ///< largest peak of the prompt's pass or of a token's, input included, `memory` not
};

/// Measures every distinct layer with zero parameters on the calling thread. The last layer sees one token only. Throws
/// fault_error{bad_input} for a chain that does not generate text, or whose context is less than the longest text.
std::vector<decode_cost> decode_costs(const chain& model, const decode_lengths& lengths, const measurement_context& on);

struct decode_plan {
  std::vector<bool> resident{};  ///< per layer: its parameters stay on the device; the others' are streamed
  std::size_t buffers = 2;       ///< streamed layers on the device at a time: the one that computes and the next
  bool memory_resident =
      true;           ///< what the layers remember stays, too; else it is streamed, `buffers` layers at a time
  byte_count needed;  ///< peak on the device
};

/// Bytes on the device at most under a plan.
byte_count needed_by(const decode_plan& plan, std::span<const decode_cost> costs);

/// Decides what stays on the device: first the layers' memories, then the parameters of the largest layers that fit.
/// The next streamed layer is fetched while one computes. Throws fault_error{does_not_fit} with the sufficient number
/// of bytes if not even one layer at a time fits `usable` bytes.
decode_plan plan_decoding(std::span<const decode_cost> costs, byte_count usable);

}  // namespace hydra
