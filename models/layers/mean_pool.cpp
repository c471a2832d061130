#include "models/layers/mean_pool.hpp"

#include "models/layers/checks.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra {

mean_pool::mean_pool(std::int64_t channels) : channels_(channels) {
  require_positive("mean pool: channels", channels);
}

tensor_spec mean_pool::output(const tensor_spec& input) const {
  require_images("mean pool", input, channels_);
  return {{input.shape[0], channels_}, element::f32};
}

at::Tensor mean_pool::forward(std::span<const at::Tensor>, const at::Tensor& input, const layer_context&) const {
  return input.mean({2, 3});
}

std::string mean_pool::signature() const { return fmt::format("mean pool channels={}", channels_); }

}  // namespace hydra
