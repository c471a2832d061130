#pragma once
// A convolution followed by batch norm: the building block of a ResNet.

#include "models/layer.hpp"
#include "models/layers/convolution.hpp"

namespace hydra {

/// Takes `parameters` tensors: the weight, then those of batch_norm().
struct normed_convolution {
  static constexpr std::size_t parameters = 5;

  convolution_shape shape;

  /// Appends "convolution.weight" and "normalization." + batch_norm_parameters() after `prefix`. Initial weights as
  /// kaiming_normal_(fan_out): normal with variance 2 / (out * kernel^2) (He et al. 2015).
  void add_parameters(const std::string& prefix, std::vector<parameter_spec>& to) const;

  /// [samples, in, height, width] -> [samples, out, convolved height, convolved width].
  at::Tensor operator()(const at::Tensor& input, std::span<const at::Tensor> all, const layer_context& context) const;
};

}  // namespace hydra
