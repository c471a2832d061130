#pragma once
// Update rules: the optimizer's mathematics on flat buffers.

#include "models/optimizer/moment_block.hpp"
#include "models/optimizer/parameter_form.hpp"
#include "models/optimizer/parameter_group.hpp"
#include "models/optimizer/schedule.hpp"
#include "runtime/device/kernels/update_math.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

enum class update_kind : std::uint8_t { adamw, sgd, lion, adamw8bit, muon, adafactor };

/// How muon's learning rate follows the size of a matrix, as torch.optim.Muon calls it: times sqrt(max(1, rows /
/// columns)), or 0.2 sqrt(max(rows, columns)), with which steps are as large as adamw's.
enum class rate_adjustment : std::uint8_t { original, match_rms_adamw };

/// The options `optimizer = { ... }` and `schedule = { ... }` of a workload. Defaults as torch's.
struct update_options {
  update_kind kind = update_kind::adamw;
  double learning_rate = 1e-3;
  /// Coupled for sgd (0), decoupled for adamw, adamw8bit (0.01), muon (0.1), lion and adafactor (0).
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;                                       ///< adafactor: 1e-30, added to squares
  double momentum = 0;                                     ///< sgd, muon (0.95)
  bool nesterov = false;                                   ///< sgd, muon (true)
  rate_adjustment adjustment = rate_adjustment::original;  ///< muon
  std::optional<double> adamw_learning_rate{};  ///< muon: learning rate of what adamw steps; the same without it
  double decay_rate = 0.8;    ///< adafactor: step t (from 1) keeps 1 - t^-decay_rate of the second moments
  double clip_threshold = 1;  ///< adafactor: largest root mean square of a parameter's step, before the rate
  double clip_norm = 0;       ///< 0 = off
  learning_schedule schedule{};
  decay_scope decay = decay_scope::all;
  std::vector<parameter_group> groups{};  ///< the last one that has a parameter decides
};

/// Options of the C++ API: hydra::adamw({.learning_rate = 3e-4}).
struct adamw_options {
  double learning_rate = 1e-3;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;
};
struct sgd_options {
  double learning_rate = 1e-3;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
  double clip_norm = 0;
};
/// Defaults as the paper's (Chen et al. 2023).
struct lion_options {
  double learning_rate = 1e-4;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double clip_norm = 0;
};
/// Defaults as those of torch.optim.Muon and, for the parameters that adamw steps, of torch.optim.AdamW.
struct muon_options {
  double learning_rate = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  rate_adjustment adjustment = rate_adjustment::original;
  std::optional<double> adamw_learning_rate{};
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;
};
/// Defaults as those of transformers.Adafactor with a given learning rate.
struct adafactor_options {
  double learning_rate = 1e-3;
  double weight_decay = 0;
  double decay_rate = 0.8;
  double eps = 1e-30;
  double clip_threshold = 1;
  double clip_norm = 0;
};
update_options adamw(const adamw_options& options);
/// Moments in 8 bits (moment_block.hpp), of parameters with 4096 values or more; stepped on the host.
update_options adamw8bit(const adamw_options& options);
update_options sgd(const sgd_options& options);
update_options lion(const lion_options& options);
/// Muon for hidden weights of two dimensions or more (muon_update.hpp); adamw for vectors, and for the first and the
/// last layer. Stepped on the host.
update_options muon(const muon_options& options);
/// A value of state for each row and column of a matrix (adafactor_update.hpp), stepped on the host.
update_options adafactor(const adafactor_options& options);

/// "adamw".
std::string to_string(update_kind kind);
/// Of the rules that do not step each value, or each block of values, by itself.
constexpr bool needs_whole_parameters(update_kind kind) noexcept {
  return kind == update_kind::muon || kind == update_kind::adafactor;
}

/// Throws fault_error{bad_input} for values no optimizer accepts (negative, NaN, betas outside [0, 1), nesterov
/// without momentum, a group without parameters, ...). Its schedule is not looked at.
void validate(const update_options& options);

/// The same for values no schedule accepts, whatever the number of steps.
void validate(const learning_schedule& schedule);

/// True if each value is stepped on its own: by devices too, with the same bits.
bool is_elementwise(update_kind kind) noexcept;

/// Moment buffers of a rule: adamw, adamw8bit and muon 2 (m, v), adafactor 2 (rows, columns), lion and sgd with
/// momentum 1, else 0. A parameter may have no values in one of them (models/optimizer/parameter_rule.hpp).
int moment_buffers(const update_options& options) noexcept;

/// One contiguous run of parameters with its gradients and moments (spans of equal length; unused moments and copy
/// empty). Muon and adafactor step a whole parameter.
struct update_slices {
  std::span<float> parameters;
  std::span<const float> gradients;
  std::span<float> first_moment;    ///< adamw m, sgd momentum, lion m, muon momentum; adafactor rows, or v
  std::span<float> second_moment;   ///< adamw v; adafactor columns
  std::span<std::uint16_t> copy{};  ///< of the new parameters, in bf16 (models/optimizer/bf16.hpp)
  block_moment first_blocks{};      ///< adamw8bit m, which begins at a block of its parameter
  block_moment second_blocks{};     ///< adamw8bit v
  matrix_size matrix{};             ///< of a whole parameter
};

/// Elements [begin, begin + n); of adamw8bit `begin` is a multiple of moment_block_size.
update_slices part_of(const update_slices& whole, std::size_t begin, std::size_t n);

/// Everything that one step needs of its options, its number and its schedule.
update_constants constants_of(const update_options& options, std::uint32_t step, std::uint32_t total_steps,
                              float clip_coefficient);

/// One step with these constants.
void apply_update(const update_constants& constants, const update_slices& slices);

/// Optimizer step number `step` (counted from 0) of `total_steps`, every gradient multiplied by `clip_coefficient`
/// in fp32 first (1 without clipping; always multiplied when clipping is on).
/// adamw: the order of at::_fused_adamw_ on CPU (numerics contract, rule 9), the same for every element whatever the
/// length; sgd: torch's definition, first step initialises momentum with the gradient. The copy is written in the same
/// pass through memory.
void apply_update(const update_options& options, std::uint32_t step, std::uint32_t total_steps, float clip_coefficient,
                  const update_slices& slices);

}  // namespace hydra
