#pragma once
// A layer whose visits take a fixed time.

#include "models/layer.hpp"
#include "runtime/base/bytes.hpp"

#include <memory>

namespace hydra::apps {

/// Computes what another layer does, then sleeps until `forward` has passed since it began; its gradients take twice as
/// long in the same way. So a unit's time does not depend on what else the host does, as on an accelerator. Its pieces
/// take equal parts of that time.
class paced_layer final : public layer {
 public:
  paced_layer(std::shared_ptr<const layer> inner, duration forward) : inner_(std::move(inner)), forward_(forward) {}

  std::vector<parameter_spec> parameters() const override { return inner_->parameters(); }
  tensor_spec output(const tensor_spec& input) const override { return inner_->output(input); }
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::vector<chain_part> in_pieces(const division& into) const override;
  std::string signature() const override;

 private:
  std::shared_ptr<const layer> inner_;
  duration forward_;
};

}  // namespace hydra::apps
