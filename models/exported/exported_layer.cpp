#include "models/exported/exported_layer.hpp"

#include "models/exported/check_graph.hpp"
#include "models/exported/linear_uses.hpp"
#include "models/exported/sample_rows.hpp"
#include "models/exported/value_scalar.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hydra {

namespace {

std::vector<parameter_spec> parameters_of(const exported_model& model, const graph_layer& layer) {
  std::vector<parameter_spec> all;
  for (const graph_parameter& p : layer.parameters)
    all.push_back({.name = p.is.name,
                   .shape = p.is.shape,
                   .initial = {},
                   .tied_to = p.tied_to,
                   .averaging = p.averaging,
                   .frozen = !p.trained && p.averaging == 0});
  for (const linear_use& use : linear_uses(layer))
    if (!model.is_shared(all[use.weight].name)) all[use.weight].linear = use.order;
  return all;
}

/// No view of what the layer gets.
bool is_own(const at::Tensor& made, const at::Tensor& input, const std::vector<at::Tensor>& parameters) {
  const auto is_in = [&](const at::Tensor& other) { return made.is_alias_of(other); };
  return !is_in(input) && std::ranges::none_of(parameters, is_in);
}

graph_parts shared(const std::vector<graph_part>& parts) {
  return std::make_shared<const std::vector<graph_part>>(parts);
}

}  // namespace

exported_layer::exported_layer(std::shared_ptr<const exported_model> model, std::size_t index)
    : model_{std::move(model)},
      index_{index},
      program_{description()},
      parameters_{parameters_of(*model_, description())},
      inputs_{shared(description().inputs)},
      outputs_{shared(description().outputs)} {}

tensor_spec exported_layer::input_for(std::int64_t samples) const {
  return index_ == 0 ? batched(sample_spec(*inputs_, model_->graph().numbers), samples)
                     : boundary_spec(*inputs_, samples);
}

tensor_spec exported_layer::output(const tensor_spec& input) const {
  const std::int64_t samples = input.shape.empty() ? 0 : input.shape.front();
  if (samples < 1 || input != input_for(samples))
    refuse(fmt::format("it gets {}, and the model was exported for {}", to_string(input), to_string(input_for(1))));
  if (index_ == 0) check_sizes(model_->graph(), samples);
  if (!is_last()) return boundary_spec(*outputs_, samples);
  return {evaluate(outputs_->front().shape, samples), element::f32};
}

at::Tensor exported_layer::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                   const layer_context& context) const {
  check_precision(parameters);
  const std::int64_t samples = input.size(0);
  std::vector<at::Tensor> laid_out(parameters.begin(), parameters.end());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    laid_out[i] = with_strides(parameters[i], description().parameters[i].is.strides);
  const std::vector<at::Tensor> inputs =
      index_ == 0 ? inputs_of(*inputs_, input) : open_boundary(inputs_, samples, input);
  const std::vector<at::Tensor> outputs = run({laid_out, constants_on(input.device()), inputs}, samples, context);
  return is_last() ? outputs.front()
                   : close_boundary(outputs_, samples, outputs, is_own(outputs.front(), input, laid_out));
}

/// A refusal names the file.
std::vector<at::Tensor> exported_layer::run(const layer_tensors& on, std::int64_t samples,
                                            const layer_context& context) const try {
  return program_.run(on, samples, context);
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::bad_input) throw;
  refuse(model_->folder() / "graph.json", e.what_happened().text);
}

void exported_layer::check_precision(std::span<const at::Tensor> parameters) const {
  const precision numbers = model_->graph().numbers;
  const bool rounded = numbers == precision::bf16;
  if (parameters.empty() || rounded == (parameters.front().scalar_type() == at::kBFloat16)) return;
  refuse(fmt::format("{} was exported in {}, and the devices compute in {}: {}", model_->folder().string(),
                     to_string(numbers), rounded ? "fp32" : "bf16",
                     rounded ? "give them precision = \"bf16\", or export module.float()"
                             : "give them precision = \"fp32\", or export module.bfloat16()"));
}

/// They begin where memory is allocated, which decides kernels, not where they lie in the file.
std::vector<at::Tensor> exported_layer::constants_on(const at::Device& device) const {
  const at::NoGradGuard none;
  std::vector<at::Tensor> all;
  if (!description().constants.empty()) model_->verify();
  for (const graph_tensor& t : description().constants) {
    const stored_tensor stored = *model_->tensors().find(t.name);
    const at::Tensor made = at::empty(stored.shape, at::TensorOptions{}.dtype(scalar_type(t.type)));
    if (!stored.data.empty()) std::memcpy(made.mutable_data_ptr(), stored.data.data(), stored.data.size());
    all.push_back(with_strides(made, t.strides).to(device));
  }
  return all;
}

}  // namespace hydra
