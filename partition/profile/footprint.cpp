#include "partition/profile/footprint.hpp"

#include "partition/profile/side_by_side.hpp"

#include <algorithm>

namespace hydra {

namespace {

/// Scalars of a visit: loss (of an evaluation: a pair for each micro-batch), its parts, the divisor's temporaries; each
/// is one rounded allocation.
constexpr byte_count scalars{8 * 512};

byte_count sum_of(byte_count layer_profile::*bytes, const chain_profile& profile, std::size_t first, std::size_t last) {
  byte_count sum;
  for (std::size_t i = first; i < last; ++i) {
    sum += profile.layers[i].*bytes;
  }
  return sum;
}

/// fp32, however narrow the parameters are.
byte_count gradients_of(const chain_profile& profile, byte_count parameters) {
  return profile.numbers == precision::bf16 ? parameters * 2 : parameters;
}

/// One micro-batch's gradients of bf16 parameters, before they are added to the sum.
byte_count part_of(const chain_profile& profile, byte_count parameters) {
  return profile.numbers == precision::bf16 ? parameters : byte_count{};
}

/// Memory needed to add them, after the graph has been freed.
byte_count adding(const chain_profile& profile, byte_count gradients) {
  return profile.numbers == precision::bf16 ? std::min(gradients, widening_room) : byte_count{};
}

/// Forward keeps one layer's input and output alive at a time.
byte_count forward_working(const chain_profile& profile, std::size_t first, std::size_t last) {
  byte_count largest;
  for (std::size_t i = first; i < last; ++i) {
    const auto& layer = profile.layers[i];
    const auto below = i > first ? layer.input : byte_count{};
    largest = std::max(largest, below + layer.output + layer.forward_transient);
  }
  return largest;
}

/// Backward keeps everything saved, and the gradient that flows into the layer it is at.
byte_count backward_working(const chain_profile& profile, std::size_t first, std::size_t last, bool with_loss) {
  const auto saved = sum_of(&layer_profile::saved, profile, first, last);
  byte_count transient = with_loss ? profile.loss_transient : byte_count{};
  for (std::size_t i = first; i < last; ++i) {
    const auto& layer = profile.layers[i];
    transient = std::max(transient, layer.output + layer.backward_transient);
  }
  return saved + transient + (with_loss ? profile.loss_saved : byte_count{});
}

/// The sum of several inputs, which is a tensor of its own.
byte_count joined_input(const chain_profile& profile, std::size_t first) {
  return reads_of(profile, first).adds_inputs ? profile.layers[first].input : byte_count{};
}

/// A forward visit writes back its outputs, and the sum of its inputs.
footprint forward_footprint(const chain_profile& profile, std::size_t first, std::size_t last) {
  const auto inputs = reads_of(profile, first).inputs;
  const auto outputs = profile.layers[last - 1].output + joined_input(profile, first);
  return {.parameters = sum_of(&layer_profile::parameters, profile, first, last),
          .first_inputs = inputs,
          .working = (inputs + outputs) * 2 + forward_working(profile, first, last),
          .base = sum_of(&layer_profile::base, profile, first, last),
          .write_back = outputs * 2};
}

/// The last piece's evaluation writes back a few numbers. Counting correct predictions takes a few tensors of the shape
/// of the targets.
footprint loss_footprint(const chain_profile& profile, std::size_t first) {
  const auto last = profile.layers.size();
  const auto input = reads_of(profile, first).inputs;
  const auto loss = profile.layers.back().output + profile.loss_saved + profile.loss_transient + profile.targets * 6;
  return {.parameters = sum_of(&layer_profile::parameters, profile, first, last),
          .first_inputs = input + profile.targets,
          .working = (input + profile.targets) * 2 + joined_input(profile, first) +
                     std::max(forward_working(profile, first, last), loss) + scalars,
          .base = sum_of(&layer_profile::base, profile, first, last),
          .write_back = scalars};
}

/// Sums of what a backward visit reads, and the part that a piece takes of it: tensors of their own.
byte_count added_for_backward(const chain_profile& profile, std::size_t first, std::size_t last, bool with_loss) {
  const auto above = reads_of(profile, last - 1);
  const bool adds = above.adds_upstreams || above.takes_columns;
  return (with_loss ? joined_input(profile, first) : byte_count{}) +
         (adds ? profile.layers[last - 1].output : byte_count{}) + above.skip;
}

}  // namespace

/// State as large as fp32 gradients, and the new parameters.
footprint with_step(const chain_profile& profile, footprint backward) {
  constexpr byte_count rounding{512};
  const auto gradients = gradients_of(profile, backward.parameters);
  const auto space = (gradients + rounding) * profile.stepping.buffers + backward.parameters;
  backward.working += space;
  backward.write_back = backward.write_back + space - gradients;
  return backward;
}

byte_count saved_bytes(const chain_profile& profile, std::size_t first, std::size_t last) {
  return last < profile.layers.size() ? sum_of(&layer_profile::saved, profile, first, last) : byte_count{};
}

footprint footprint_of(const chain_profile& profile, std::size_t first, std::size_t last, direction way) {
  const bool with_loss = last == profile.layers.size() && way != direction::forward;
  if (way != direction::backward) {
    return with_loss ? loss_footprint(profile, first) : forward_footprint(profile, first, last);
  }
  const auto below = reads_of(profile, first), above = reads_of(profile, last - 1);
  const auto input = profile.layers[first].input;
  const auto inputs = with_loss ? below.inputs : input;  // else its forward visit has added them
  footprint f;
  f.parameters = sum_of(&layer_profile::parameters, profile, first, last);
  f.base = sum_of(&layer_profile::base, profile, first, last);
  const auto second = with_loss ? profile.targets : above.upstreams;
  const auto input_gradient = first > 0 ? input : byte_count{};
  f.first_inputs = inputs + second + above.skip;
  const auto gradients = gradients_of(profile, f.parameters);
  f.working = gradients + part_of(profile, f.parameters) + (inputs + second + above.skip + input_gradient) * 2 +
              added_for_backward(profile, first, last, with_loss) +
              std::max(backward_working(profile, first, last, with_loss), adding(profile, gradients)) + scalars;
  f.write_back = gradients + input_gradient * 2 + scalars;
  return f;
}

footprint with_rounded_gradients(footprint backward) {
  backward.write_back -= backward.parameters;  // the fp32 sum has twice the bytes of the bf16 gradients
  return backward;
}

shard_demand demand_of(const chain_profile& profile, std::size_t first, std::size_t last) {
  const auto plain = footprint_of(profile, first, last, direction::backward);
  const auto backward = profile.stepping.covers(first, last) ? with_step(profile, plain) : plain;
  const auto evaluation = footprint_of(profile, first, last, direction::evaluate);  // as forward, but of the last piece
  return larger({backward.staging(), backward.computing()}, {evaluation.staging(), evaluation.computing()});
}

shard_demand larger(const shard_demand& a, const shard_demand& b) noexcept {
  return {std::max(a.staging, b.staging), std::max(a.computing, b.computing)};
}

}  // namespace hydra
