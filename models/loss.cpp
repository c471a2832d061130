#include "models/loss.hpp"

#include "runtime/base/nearest.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

namespace hydra {
namespace {

/// To add one: a class in models/losses/ and a row here.
constexpr std::array factories{&cross_entropy, &mse};

}  // namespace

std::optional<at::Tensor> loss::correct(const at::Tensor&, const at::Tensor&) const { return std::nullopt; }

at::Tensor in_fp32(const at::Tensor& output) {
  return output.scalar_type() == at::kBFloat16 ? output.to(at::kFloat) : output;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto make : factories) names.push_back(make()->name());
  return names;
}

std::shared_ptr<const loss> make_loss(std::string_view name) {
  const auto named = [&](auto make) { return make()->name() == name; };
  const auto found = std::ranges::find_if(factories, named);
  if (found != factories.end()) return (*found)();
  refuse_unknown("unknown loss", name, loss_names());
}

}  // namespace hydra
