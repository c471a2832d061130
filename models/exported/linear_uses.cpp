#include "models/exported/linear_uses.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace hydra {

namespace {

std::map<std::string, std::size_t> count_reads(const graph_layer& layer) {
  std::map<std::string, std::size_t> reads;
  for (const graph_call& call : layer.calls)
    for (const graph_argument& a : call.arguments)
      for (const std::string& name : values_in(a)) ++reads[name];
  return reads;
}

bool is_one(const graph_argument& a) {
  const auto* const n = std::get_if<std::int64_t>(&a.is);
  return n && *n == 1;
}

/// The argument that is the weight, if the call may be a linear map.
std::optional<std::size_t> weight_of(const graph_call& call) {
  if (call.op == "aten::linear" && call.overload.empty()) return 1;
  const bool is_addmm = call.op == "aten::addmm" && call.overload.empty() && call.arguments.size() == 5;
  return is_addmm && is_one(call.arguments[3]) && is_one(call.arguments[4]) ? std::optional<std::size_t>{2}
                                                                            : std::nullopt;
}

}  // namespace

std::vector<linear_use> linear_uses(const graph_layer& layer) {
  const std::map<std::string, std::size_t> reads = count_reads(layer);
  std::vector<linear_use> uses;
  for (std::size_t i = 0; i < layer.calls.size(); ++i) {
    const graph_call& call = layer.calls[i];
    const std::optional<std::size_t> at = weight_of(call);
    const auto* const value = at ? std::get_if<value_reference>(&call.arguments.at(*at).is) : nullptr;
    if (!value || reads.at(value->name) != 1) continue;
    const auto p = std::ranges::find(layer.parameters, value->name, [](auto& each) { return each.is.value; });
    if (p == layer.parameters.end() || p->is.shape.size() != 2) continue;
    uses.push_back({i, *at - 1, static_cast<std::size_t>(p - layer.parameters.begin()),
                    *at == 1 ? linear_weight::out_in : linear_weight::in_out});
  }
  return uses;
}

}  // namespace hydra
