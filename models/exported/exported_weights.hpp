#pragma once
// The values of an exported model's parameters.

#include "models/exported/exported_model.hpp"
#include "models/weight_source.hpp"

#include <memory>
#include <string>
#include <utility>

namespace hydra {

class exported_weights final : public weight_source {
 public:
  explicit exported_weights(std::shared_ptr<const exported_model> model) : model_{std::move(model)} {}

  /// Throws fault_error{bad_input} with file and tensor for values that are not finite.
  bool read(const parameter_spec& p, std::span<float> values) const override;
  bool has_values(const parameter_spec& p, const stored_tensor& values) const override;
  std::string identity() const override { return "exported " + model_->digest(); }
  std::string files() const override { return model_->folder().string(); }
  std::string origin(const std::string& parameter) const override;

 private:
  std::shared_ptr<const exported_model> model_;
};

}  // namespace hydra
