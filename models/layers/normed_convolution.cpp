#include "models/layers/normed_convolution.hpp"

#include "models/layers/batch_norm.hpp"

#include <ATen/core/Tensor.h>

#include <cmath>
#include <iterator>

namespace hydra {

void normed_convolution::add_parameters(const std::string& prefix, std::vector<parameter_spec>& to) const {
  const auto fan_out = static_cast<double>(shape.out * shape.kernel * shape.kernel);
  to.push_back(convolution_weight(prefix + "convolution.weight", shape));
  to.back().initial = {initial_value::kind::normal, std::sqrt(2 / fan_out)};
  const auto norm = batch_norm_parameters(prefix + "normalization.", shape.out);
  to.insert(to.end(), norm.begin(), norm.end());
}

at::Tensor normed_convolution::operator()(const at::Tensor& input, std::span<const at::Tensor> all,
                                          const layer_context& context) const {
  return batch_norm(convolve(input, all[0], shape), all.subspan(1), context);
}

}  // namespace hydra
