#include "models/layer_name.hpp"

#include "models/scalar_type.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace hydra {
namespace {

/// For a message about an exception: that of a signature must not take its place.
std::string signature_or_nothing(const chain& model, std::size_t i) {
  try {
    return fmt::format(" ({})", model.at(i).body->signature());
  } catch (...) {
    return {};
  }
}

std::string name_of_type(c10::ScalarType type) {
  for (const element e : std::array{element::f32, element::i64, element::bf16, element::bits})
    if (scalar_type(e) == type) return to_string(e);
  return c10::toString(type);
}

}  // namespace

std::string layer_name(const chain& model, std::size_t i) {
  return fmt::format("layer {} (\"{}\") of chain \"{}\"{}", i, model.at(i).prefix, model.family(),
                     signature_or_nothing(model, i));
}

std::string to_string(const at::Tensor& t) {
  if (!t.defined()) return "no tensor";
  return fmt::format("{}[{}]", name_of_type(t.scalar_type()), fmt::join(t.sizes(), ", "));
}

}  // namespace hydra
