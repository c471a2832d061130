#pragma once
// A weight and its bias, adjacent among a layer's parameters: linear maps and norms of encoders.

#include "models/layer.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Appends "NAME.weight" [out, in], normal with deviation 0.02, and "NAME.bias" [out], zero: BERT's initial values.
void add_linear(std::vector<parameter_spec>& parameters, const std::string& name, std::int64_t in, std::int64_t out);

/// Appends "NAME.weight", one, and "NAME.bias", zero, both [width].
void add_norm(std::vector<parameter_spec>& parameters, const std::string& name, std::int64_t width);

/// linear_map() with the weight at index `weight` and the bias after it.
at::Tensor apply_linear(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x,
                        const layer_context& context);

/// Layer norm over the last dimension, with the weight at index `weight` and the bias after it.
at::Tensor apply_norm(std::span<const at::Tensor> parameters, std::size_t weight, const at::Tensor& x, double eps);

/// Throws fault_error{bad_input} unless 0 < eps < 1. `what` names the option, as in "bert: eps".
void require_eps(std::string_view what, double eps);

}  // namespace hydra
