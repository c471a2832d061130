#pragma once
// The non-linear functions of feed-forward layers, by their names in Hugging Face's configs ("hidden_act").

#include "runtime/base/tensor_fwd.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

enum class activation : std::uint8_t {
  gelu,       ///< x * Phi(x), by the error function
  gelu_tanh,  ///< its approximation by tanh (Hendrycks and Gimpel 2016, section 2)
  relu,
  silu,  ///< x / (1 + exp(-x))
};

at::Tensor activate(activation f, const at::Tensor& x);

/// "gelu", "gelu_new", "relu", "silu".
std::string to_string(activation f);

/// The function of one of these names, or of "gelu_pytorch_tanh" (another name of gelu_new); empty for others.
std::optional<activation> activation_named(std::string_view name);

std::vector<std::string> activation_names();

}  // namespace hydra
