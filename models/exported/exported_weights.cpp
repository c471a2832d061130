#include "models/exported/exported_weights.hpp"

#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

namespace hydra {

bool exported_weights::read(const parameter_spec& p, std::span<float> values) const {
  model_->verify();
  const auto stored = model_->tensors().find(p.name);
  if (!stored) return false;  // a parameter of an adapter
  if (const std::size_t n = widen_mapped(*stored, values); n > 0)
    refuse(fmt::format("{}: tensor {}: {} of its {} values are not finite",
                       (model_->folder() / "model.safetensors").string(), p.name, n, values.size()));
  return true;
}

bool exported_weights::has_values(const parameter_spec& p, const stored_tensor& values) const {
  const auto stored = model_->tensors().find(p.name);
  return stored && equal_mapped(*stored, values);
}

std::string exported_weights::origin(const std::string& parameter) const {
  return model_->tensors().find(parameter) ? fmt::format("exported {} {}", model_->digest(), parameter) : "";
}

}  // namespace hydra
