#include "models/untied_head.hpp"

#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <utility>

namespace hydra {
namespace {

/// The head's values are those of the embedding.
class weights_of_both final : public weight_source {
 public:
  weights_of_both(std::shared_ptr<const weight_source> tied, parameter_spec head)
      : tied_(std::move(tied)), head_(std::move(head)) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    return tied_->read(as_stored(p), values);
  }
  bool has_values(const parameter_spec& p, const stored_tensor& values) const override {
    return tied_->has_values(as_stored(p), values);
  }
  std::string identity() const override { return tied_->identity(); }
  std::string files() const override { return tied_->files(); }
  std::string origin(const std::string& parameter) const override { return tied_->origin(stored_as(parameter)); }
  bool differs_from_base(const std::string& parameter) const override {
    return tied_->differs_from_base(stored_as(parameter));
  }

 private:
  parameter_spec as_stored(parameter_spec p) const {
    p.name = stored_as(p.name);
    return p;
  }
  const std::string& stored_as(const std::string& parameter) const {
    return parameter == head_.name ? head_.tied_to : parameter;
  }

  std::shared_ptr<const weight_source> tied_;
  parameter_spec head_;
};

}  // namespace

std::optional<parameter_spec> tied_head(const chain& model) {
  if (model.size() == 0 || model.hub().config.empty()) return std::nullopt;
  for (parameter_spec& p : model.parameters(model.size() - 1))
    if (!p.tied_to.empty() && p.name == "lm_head.weight") return std::move(p);
  return std::nullopt;
}

chain with_own_head(chain model) {
  const parameter_spec head = *tied_head(model);
  hub_form form = model.hub();
  nlohmann::ordered_json config = parse_ordered_json(form.config);
  config["tie_word_embeddings"] = false;
  form.config = json_text(config, 2) + "\n";
  model.untie(head.name).publish_as(std::move(form));
  return model.begin_with(std::make_shared<weights_of_both>(model.weights(), head));
}

}  // namespace hydra
