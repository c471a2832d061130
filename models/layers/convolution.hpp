#pragma once
// Convolution without bias (a norm follows), shared by stem and residual block.

#include "models/layer.hpp"

namespace hydra {

/// Square kernel, zero padding of half its size.
struct convolution_shape {
  std::int64_t in = 0;  ///< channels
  std::int64_t out = 0;
  std::int64_t kernel = 3;  ///< odd
  std::int64_t stride = 1;
};

/// Weight [out, in, kernel, kernel]; initial values as torch's nn.Conv2d: uniform in +-1/sqrt(in * kernel^2).
parameter_spec convolution_weight(std::string name, const convolution_shape& shape);

/// Height or width of the output for that of the input.
std::int64_t convolved_size(std::int64_t size, const convolution_shape& shape);

/// [samples, in, height, width] -> [samples, out, convolved height, convolved width], in C order.
at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const convolution_shape& shape);

}  // namespace hydra
