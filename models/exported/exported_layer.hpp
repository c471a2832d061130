#pragma once
// A layer of an exported model as a layer of a chain.

#include "models/exported/boundary.hpp"
#include "models/exported/exported_model.hpp"
#include "models/exported/layer_program.hpp"
#include "models/layer.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// Samples of the data, or bits, -> bits that hold what crosses to the next layer (boundary.hpp); the output of the
/// last layer is a tensor of the graph's precision.
class exported_layer final : public layer {
 public:
  /// Throws fault_error{bad_input} for calls that cannot run.
  exported_layer(std::shared_ptr<const exported_model> model, std::size_t index);

  /// With the names of the graph; their values are read from the model's file. Those that it neither
  /// trains nor averages are frozen.
  std::vector<parameter_spec> parameters() const override { return parameters_; }
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  bool depends_on_gradients() const override { return true; }
  std::string signature() const override {
    return (is_last() ? "exported output " : "exported ") + description().signature;
  }

 private:
  const graph_layer& description() const { return model_->graph().layers[index_]; }
  bool is_last() const { return index_ + 1 == model_->graph().layers.size(); }
  tensor_spec input_for(std::int64_t samples) const;
  std::vector<at::Tensor> run(const layer_tensors& on, std::int64_t samples, const layer_context& context) const;
  void check_precision(std::span<const at::Tensor> parameters) const;
  std::vector<at::Tensor> constants_on(const at::Device& device) const;

  std::shared_ptr<const exported_model> model_;
  std::size_t index_;
  layer_program program_;
  std::vector<parameter_spec> parameters_;
  graph_parts inputs_, outputs_;
};

}  // namespace hydra
