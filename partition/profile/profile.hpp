#pragma once
// The measured cost of each layer of a chain (the paper's pilot pass, section 2.2).

#include "models/chain.hpp"
#include "partition/profile/device_stepping.hpp"
#include "partition/profile/measurement_context.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/device/work_meter.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// One layer for one micro-batch. Bytes are as charged (rounded per tensor). Peaks do not add: a visit needs the sum
/// of `saved` and the largest transient.
struct layer_profile {
  std::string kind{};             ///< its signature
  byte_count parameters;          ///< that are stepped, padded
  byte_count base{};              ///< frozen parameters, padded
  byte_count input;
  byte_count output;  ///< of the last layer of a chain whose loss is computed in chunks: of one
  tensor_spec input_spec;
  tensor_spec output_spec;
  byte_count saved;               ///< alive after the forward with gradient, output included
  byte_count forward_transient;   ///< peak during a forward beyond its output, or beyond `saved` if it has a gradient
  byte_count backward_transient;  ///< largest peak of forward with gradient or backward, beyond `saved`
  duration forward{};             ///< median, one micro-batch, speed 1
  duration backward{};            ///< recompute + backward
  friend bool operator==(const layer_profile&, const layer_profile&) = default;
};

/// A chain for micro-batches of `samples` samples.
struct chain_profile {
  std::vector<layer_profile> layers;
  byte_count targets;             ///< of one micro-batch
  tensor_spec target_spec;
  byte_count loss_transient;      ///< loss forward + backward beyond the last output (its gradient included)
  byte_count loss_saved;          ///< in chunks: also the gradient of the last layer's whole input
  std::int64_t samples = 0;
  precision numbers = precision::fp32;   ///< of parameters and activations
  std::vector<chain_place> places{};     ///< of its layers; empty: none is side by side with others
  device_stepping stepping{};            ///< asked for by the planner: not measured, not saved
  std::size_t meets = 0;                 ///< the same: layer with which a shard begins in which replicas meet; 0: none
  friend bool operator==(const chain_profile&, const chain_profile&) = default;
};

/// Times of one layer (or of the loss, which has no forward of its own) after warm-up.
struct timed_passes {
  std::vector<duration> forward;
  std::vector<duration> backward;
};

/// What one device has measured of a chain: bytes, and all times of every distinct layer.
struct chain_samples {
  chain_profile profile;               ///< without times
  std::vector<std::size_t> kind_of;    ///< per layer: index of its distinct layer
  std::size_t first_trained = 0;       ///< layer; those below it have only frozen parameters
  std::vector<timed_passes> times;     ///< per distinct layer
  timed_passes loss;
};

/// Called before a layer, which is number `kind` (from 1) of `kinds` different ones, gets this `work`: "checking" or
/// "measuring".
using layer_progress =
    std::function<void(std::string_view work, std::size_t layer, std::size_t kind, std::size_t kinds)>;

/// The step whose layers are measured.
struct profiled_step {
  tensor_spec sample_target;
  std::int64_t samples = 1;   ///< of a micro-batch
  std::uint32_t micro_batches = 1;
  layer_progress progress{};  ///< may be null
};

/// Measures every distinct layer (signature and input shape) once on the calling thread, with zero parameters and
/// inputs of the right shape. All passes together take no longer than two training steps, except for layers so fast
/// that three timed passes cost almost nothing; those of one layer about two seconds each way, or one pass.
chain_samples sample_costs(const chain& model, const profiled_step& step, const measurement_context& on);

/// Merges the measurements of at least one device: largest bytes, medians of all times. Layers below the first trained
/// one are only computed again in a backward visit, which saves nothing of them but the input of that one.
chain_profile merge(std::span<const chain_samples> devices);

/// True if the profile can be one of this chain: same samples, format, shapes and parameter bytes.
bool suits(const chain_profile& profile, const chain& model, const tensor_spec& sample_target, std::int64_t samples);

/// How many passes of a layer are timed after the warm-up, if two training steps visit it `visits` times. 0: the
/// warm-up is long enough to count.
std::size_t timed_repeats(std::size_t visits, duration warm) noexcept;

/// Of a list that is not empty, in any order; the upper one of two.
duration median(std::vector<duration> times);

}  // namespace hydra
