#include "models/exported/exported_chain.hpp"

#include "models/exported/exported_layer.hpp"
#include "models/exported/module_loss.hpp"
#include "models/exported/sample_rows.hpp"
#include "models/weight_source.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

class exported_weights final : public weight_source {
 public:
  explicit exported_weights(std::shared_ptr<const exported_model> model) : model_{std::move(model)} {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    model_->verify();
    const auto stored = model_->tensors().find(p.name);
    if (!stored) return false;  // a parameter of an adapter
    if (const std::size_t n = widen_mapped(*stored, values); n > 0)
      refuse(fmt::format("{}: tensor {}: {} of its {} values are not finite",
                         (model_->folder() / "model.safetensors").string(), p.name, n, values.size()));
    return true;
  }
  bool has_values(const parameter_spec& p, const stored_tensor& values) const override {
    const auto stored = model_->tensors().find(p.name);
    return stored && equal_mapped(*stored, values);
  }
  std::string identity() const override { return weights_identity(*model_); }
  std::string files() const override { return model_->folder().string(); }
  std::string origin(const std::string& parameter) const override {
    return model_->tensors().find(parameter) ? fmt::format("exported {} {}", model_->digest(), parameter) : "";
  }

 private:
  std::shared_ptr<const exported_model> model_;
};

std::string described(const tensor_spec& sample, const std::vector<sample_part>& parts) {
  return parts.empty() ? to_string(sample) : to_string(parts);
}

void check_inputs(const exported_graph& g, const data_source& data) {
  const tensor_spec wanted = sample_spec(g.inputs, g.numbers);
  const auto parts = is_plain(g.inputs, g.numbers) ? std::vector<sample_part>{} : parts_of_sample(g.inputs);
  if (data.sample_input() == wanted && data.sample_parts() == parts) return;
  refuse(
      fmt::format("a sample for the exported model is {}, and one of {} is {}; export the model for such samples, or "
                  "choose other data{}",
                  described(wanted, parts), data.describe(), described(data.sample_input(), data.sample_parts()),
                  parts.empty() ? "" : " (kind = \"tensors\" has tensors of any names and types)"));
}

/// Of the output of one sample.
std::vector<std::int64_t> shape_of_output(const exported_graph& g) {
  if (const auto shape = sizes_of_sample(g.output.shape)) return *shape;
  refuse(
      "the first dimension of the output, and no other, has to count the samples, unless the output is the loss "
      "(Export(..., loss=\"mean\"))");
}

void check_targets(const exported_graph& g, const data_source& data) {
  const tensor_spec target = data.sample_target();
  if (data.classes() == 0)
    refuse(
        fmt::format("{} has no targets; name the tensor that has them (target = \"...\"), or export a module that "
                    "computes its loss",
                    data.describe()));
  const std::vector<std::int64_t> output = shape_of_output(g);
  const std::string text = to_string(tensor_spec{output, element::f32});
  if (target.type == element::i64) {
    if (output.empty() || std::vector(output.begin(), output.end() - 1) != target.shape)
      refuse(
          fmt::format("the output for a sample is {}, and its targets are {}: classes are the last dimension of the "
                      "output, as after permute(0, 2, 3, 1) of images",
                      text, to_string(target)));
    if (const std::int64_t classes = data.observed_vocabulary(); output.back() < classes)
      refuse(fmt::format("the output for a sample is {}, and {} has {} classes", text, data.describe(), classes));
  } else if (output != target.shape) {
    refuse(fmt::format("the output for a sample is {}, and its target is {}", text, to_string(target)));
  }
}

std::shared_ptr<const loss> loss_of(const exported_graph& g, const data_source& data) {
  if (g.loss != graph_loss::none) return module_loss(g.loss == graph_loss::mean);
  check_targets(g, data);
  return data.sample_target().type == element::i64 ? cross_entropy() : mse();
}

/// Names are those of state_dict(); parameters keep their fp32 values, which load_state_dict() rounds as it must.
hub_form state_of(const std::shared_ptr<const exported_model>& model) {
  hub_form form;
  form.state_names = [model](const std::string& parameter) {
    const auto found = model->graph().names.find(parameter);
    return found == model->graph().names.end() ? std::vector<std::string>{} : found->second;
  };
  form.rest_of_state = [model] {
    model->verify();
    std::set<std::string> parameters;
    for (const graph_layer& layer : model->graph().layers)
      for (const graph_parameter& p : layer.parameters) parameters.insert(p.is.name);
    std::vector<named_tensor> rest;
    for (const auto& [tensor, names] : model->graph().names)
      for (const std::string& name : names)
        if (!parameters.contains(tensor)) rest.push_back({name, *model->tensors().find(tensor)});
    return rest;
  };
  return form;
}

}  // namespace

chain exported_chain(const std::shared_ptr<const exported_model>& model, const data_source& data) {
  const exported_graph& g = model->graph();
  check_inputs(g, data);
  chain made{"exported", data.sample_input(), loss_of(g, data)};
  for (std::size_t i = 0; i < g.layers.size(); ++i) made.add("", std::make_shared<exported_layer>(model, i));
  made.begin_with(std::make_shared<exported_weights>(model)).publish_as(state_of(model));
  return made;
}

std::string weights_identity(const exported_model& model) { return "exported " + model.digest(); }

}  // namespace hydra
