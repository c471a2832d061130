#include "models/layers/convolution.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution_ops.h>

#include <array>
#include <cmath>
#include <utility>

namespace hydra {

parameter_spec convolution_weight(std::string name, const convolution_shape& shape) {
  const auto fan_in = static_cast<double>(shape.in * shape.kernel * shape.kernel);
  return {std::move(name),
          {shape.out, shape.in, shape.kernel, shape.kernel},
          {initial_value::kind::uniform, 1 / std::sqrt(fan_in)},
          {}};
}

std::int64_t convolved_size(std::int64_t size, const convolution_shape& shape) {
  return (size + 2 * (shape.kernel / 2) - shape.kernel) / shape.stride + 1;
}

at::Tensor convolve(const at::Tensor& input, const at::Tensor& weight, const convolution_shape& shape) {
  const std::array<c10::SymInt, 2> stride{shape.stride, shape.stride}, padding{shape.kernel / 2, shape.kernel / 2},
      dilation{1, 1}, output_padding{0, 0};
  return at::_ops::convolution::call(input, weight, {}, stride, padding, dilation, false, output_padding, 1);
}

}  // namespace hydra
