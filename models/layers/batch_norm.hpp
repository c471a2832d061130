#pragma once
// Batch norm over channels (Ioffe and Szegedy 2015), with running averages for evaluation.

#include "models/layer.hpp"

namespace hydra {

/// "weight", "bias", "running_mean" and "running_var" after `prefix`, each [channels]; initial values as torch's.
std::vector<parameter_spec> batch_norm_parameters(const std::string& prefix, std::int64_t channels);

/// Torch's defaults.
struct batch_norm_numbers {
  double momentum = 0.1;
  double eps = 1e-5;
};

/// x [samples, channels, ...]; the four parameters of batch_norm_parameters(), of which the first two, and the last
/// two, may be undefined: no scale and shift; always the batch's own statistics.
///
/// In training x is normalised by its own mean and (biased) variance. Backward returns, as gradient of the running
/// averages, the change of the sum accumulated in their .grad to (1-m) * sum + m * statistic, the variance unbiased
/// (parameter_spec::averaging); so a forward changes nothing, and each step counts once however often it is recomputed.
/// In evaluation x is normalised by the running averages.
///
/// Throws fault_error{bad_input} in training if a channel has a single value, which has no variance.
at::Tensor batch_norm(const at::Tensor& x, std::span<const at::Tensor> parameters, const layer_context& context,
                      const batch_norm_numbers& numbers = {});

}  // namespace hydra
