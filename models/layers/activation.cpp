#include "models/layers/activation.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/silu_ops.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {
namespace {

using row = std::pair<std::string_view, activation>;

/// If a function has two names, the first is written.
constexpr std::array rows{row{"gelu", activation::gelu}, row{"gelu_new", activation::gelu_tanh},
                          row{"gelu_pytorch_tanh", activation::gelu_tanh}, row{"relu", activation::relu},
                          row{"silu", activation::silu}};

}  // namespace

at::Tensor activate(activation f, const at::Tensor& x) {
  if (f == activation::relu) return at::_ops::relu::call(x);
  if (f == activation::silu) return at::_ops::silu::call(x);
  return at::_ops::gelu::call(x, f == activation::gelu ? "none" : "tanh");
}

std::string to_string(activation f) { return std::string{std::ranges::find(rows, f, &row::second)->first}; }

std::optional<activation> activation_named(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &row::first);
  if (found == rows.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const auto& [name, _] : rows) names.emplace_back(name);
  return names;
}

}  // namespace hydra
