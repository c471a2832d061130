#include "models/adapted_layer.hpp"

#include "runtime/base/index_ranges.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace hydra {
namespace {

constexpr std::uint32_t first_site = 1 << 16;  // beyond those of the layers themselves

/// Of a parameter that is the weight of a linear map.
std::int64_t inputs_of(const parameter_spec& p) { return p.shape[p.linear == linear_weight::out_in ? 1 : 0]; }
std::int64_t outputs_of(const parameter_spec& p) { return p.shape[p.linear == linear_weight::out_in ? 0 : 1]; }

}  // namespace

adapted_layer::adapted_layer(std::shared_ptr<const layer> body, const std::vector<adapted_weight>& weights,
                             lora_options options)
    : body_(std::move(body)), options_(std::move(options)), parameters_(body_->parameters()) {
  for (const adapted_weight& weight : weights) {
    const parameter_spec base = parameters_[weight.index];
    terms_.push_back({.weight = weight.index,
                      .a = parameters_.size(),
                      .b = parameters_.size() + 1,
                      .order = base.linear,
                      .scale = weight.scale,
                      .dropout = options_.dropout,
                      .site = first_site + static_cast<std::uint32_t>(weight.index)});
    const initial_value uniform{initial_value::kind::uniform, 1 / std::sqrt(static_cast<double>(inputs_of(base)))};
    parameters_.push_back({lora_name(base.name, 'A'), {weight.rank, inputs_of(base)}, uniform, {}});
    parameters_.push_back({lora_name(base.name, 'B'), {outputs_of(base), weight.rank}, {}, {}});
    if (!options_.magnitudes) continue;
    terms_.back().magnitude = parameters_.size();
    parameters_.push_back({magnitude_name(base.name), {outputs_of(base)}, {initial_value::kind::constant, 1}, {}});
  }
}

layer_context adapted_layer::with_terms(layer_context context) const {
  context.low_rank = terms_;
  return context;
}

at::Tensor adapted_layer::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                  const layer_context& context) const {
  return body_->forward(parameters, input, with_terms(context));
}

at::Tensor adapted_layer::decode(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                 const layer_context& context, decode_memory& memory) const {
  return body_->decode(parameters, input, with_terms(context), memory);
}

std::string adapted_layer::signature() const {
  std::map<std::string, std::vector<std::size_t>> alike;
  for (const low_rank_term& t : terms_)
    alike[fmt::format("rank={} scale={}", parameters_[t.a].shape[0], t.scale)].push_back(t.weight);
  std::string text = body_->signature();
  for (const auto& [what, weights] : alike)
    text += fmt::format(" lora {} dropout={}{} on={}", what, options_.dropout, options_.magnitudes ? " magnitudes" : "",
                        index_ranges(weights));
  return text;
}

}  // namespace hydra
