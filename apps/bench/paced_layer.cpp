#include "apps/bench/paced_layer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <thread>
#include <vector>

namespace hydra::apps {

namespace {

/// When the gradient of a layer's output arrived; it belongs to one forward.
struct backward_begin final : torch::CustomClassHolder {
  time_point at{};
};

/// What a layer reads and differentiates, unchanged. Its backward is the layer's last: it waits until the layer's time
/// is over.
struct paced_inputs : torch::autograd::Function<paced_inputs> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, at::TensorList inputs,
                                                std::int64_t nanoseconds,
                                                const c10::intrusive_ptr<backward_begin>& begin) {
    context->saved_data["nanoseconds"] = nanoseconds;
    context->saved_data["begin"] = at::IValue::make_capsule(begin);
    torch::autograd::variable_list outputs;
    for (const at::Tensor& each : inputs) outputs.push_back(each.view_as(each));
    return outputs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto begin = c10::static_intrusive_pointer_cast<backward_begin>(context->saved_data["begin"].toCapsule());
    std::this_thread::sleep_until(begin->at + duration{context->saved_data["nanoseconds"].toInt()});
    gradients.resize(gradients.size() + 2);  // of the other arguments: none
    return gradients;
  }
};

}  // namespace

at::Tensor paced_layer::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                const layer_context& context) const {
  const auto until = steady_clock::now() + forward_;
  if (!at::GradMode::is_enabled()) {
    auto output = inner_->forward(parameters, input, context);
    std::this_thread::sleep_until(until);
    return output;
  }
  const auto begin = c10::make_intrusive<backward_begin>();
  std::vector<at::Tensor> read{parameters.begin(), parameters.end()};
  read.push_back(input);
  std::vector<at::Tensor> differentiated;
  std::ranges::copy_if(read, std::back_inserter(differentiated), [](const at::Tensor& t) { return t.requires_grad(); });
  const torch::autograd::variable_list paced =
      paced_inputs::apply(at::TensorList{differentiated}, (2 * forward_).count(), begin);
  std::size_t next = 0;
  for (at::Tensor& each : read)
    if (each.requires_grad()) each = paced[next++];
  auto output = inner_->forward(std::span{read}.first(parameters.size()), read.back(), context);
  if (output.requires_grad()) output.register_hook([begin](const at::Tensor&) { begin->at = steady_clock::now(); });
  std::this_thread::sleep_until(until);
  return output;
}

/// What joins the pieces has no parameters, and takes its own time.
std::vector<chain_part> paced_layer::in_pieces(const division& into) const {
  std::vector<chain_part> all = inner_->in_pieces(into);
  for (chain_part& part : all)
    if (!part.body->parameters().empty()) part.body = std::make_shared<paced_layer>(part.body, forward_ / into.pieces);
  return all;
}

std::string paced_layer::signature() const {
  return fmt::format("{}, in {}", inner_->signature(), to_string(forward_));
}

}  // namespace hydra::apps
