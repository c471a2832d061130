#include "apps/bench/paced_layer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <thread>

namespace hydra::apps {

at::Tensor paced_layer::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  const auto until = steady_clock::now() + forward_ * (at::GradMode::is_enabled() ? 3 : 1);
  auto output = inner_->forward(parameters, input, context);
  std::this_thread::sleep_until(until);
  return output;
}

std::string paced_layer::signature() const {
  return fmt::format("{}, in {}", inner_->signature(), to_string(forward_));
}

}  // namespace hydra::apps
