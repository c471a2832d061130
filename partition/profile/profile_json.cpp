#include "partition/profile/profile_json.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hydra {

namespace {

using json = nlohmann::json;
using ordered = nlohmann::ordered_json;

ordered spec_to_json(const tensor_spec& s) {
  return {{"shape", s.shape}, {"type", to_string(s.type)}};
}

tensor_spec spec_from_json(const json& j) {
  const auto name = j.at("type").get<std::string>();
  const auto type = element_named(name);
  if (!type) {
    refuse("tensors are of type f32, bf16 or i64, not " + shown(name));
  }
  return {j.at("shape").get<std::vector<std::int64_t>>(), *type};
}

/// Profiles in fp32 omit the precision.
precision numbers_from_json(const json& j) {
  const auto name = j.value("precision", to_string(precision::fp32));
  if (name != to_string(precision::fp32) && name != to_string(precision::bf16)) {
    refuse("a precision is fp32 or bf16, not " + shown(name));
  }
  return name == to_string(precision::bf16) ? precision::bf16 : precision::fp32;
}

ordered layer_to_json(const layer_profile& p) {
  ordered j{{"kind", p.kind},
            {"parameter_bytes", p.parameters.value()},
            {"input_bytes", p.input.value()},
            {"output_bytes", p.output.value()},
            {"saved_bytes", p.saved.value()},
            {"forward_transient_bytes", p.forward_transient.value()},
            {"backward_transient_bytes", p.backward_transient.value()},
            {"forward_s", seconds(p.forward)},
            {"backward_s", seconds(p.backward)},
            {"input", spec_to_json(p.input_spec)},
            {"output", spec_to_json(p.output_spec)}};
  if (p.base > byte_count{}) {
    j["base_bytes"] = p.base.value();
  }
  return j;
}

layer_profile layer_from_json(const json& j) {
  layer_profile p;
  p.kind = j.at("kind").get<std::string>();
  p.parameters = bytes_from_json(j.at("parameter_bytes"));
  p.base = j.contains("base_bytes") ? bytes_from_json(j.at("base_bytes")) : byte_count{};
  p.input = bytes_from_json(j.at("input_bytes"));
  p.output = bytes_from_json(j.at("output_bytes"));
  p.saved = bytes_from_json(j.at("saved_bytes"));
  p.forward_transient = bytes_from_json(j.at("forward_transient_bytes"));
  p.backward_transient = bytes_from_json(j.at("backward_transient_bytes"));
  p.forward = time_from_json(j.at("forward_s"));
  p.backward = time_from_json(j.at("backward_s"));
  p.input_spec = spec_from_json(j.at("input"));
  p.output_spec = spec_from_json(j.at("output"));
  return p;
}

}  // namespace

byte_count bytes_from_json(const json& j) {
  if (!j.is_number_unsigned()) {
    refuse("a number of bytes is an integer of at least 0, not " + shown_json(j));
  }
  return byte_count{j.get<std::uint64_t>()};
}

duration time_from_json(const json& j) {
  const auto s = j.is_number() ? j.get<double>() : -1;
  if (!(s >= 0 && s < 1e6)) {
    refuse("a time is a number of seconds of at least 0, not " + shown_json(j));
  }
  return duration{std::llround(s * 1e9)};
}

ordered profile_to_json(const chain_profile& profile) {
  std::vector<layer_profile> costs;
  std::vector<std::size_t> cost_of;
  for (const auto& layer : profile.layers) {
    const auto same = std::ranges::find(costs, layer);
    cost_of.push_back(static_cast<std::size_t>(same - costs.begin()));
    if (same == costs.end()) {
      costs.push_back(layer);
    }
  }
  ordered j{{"samples", profile.samples},
            {"target_bytes", profile.targets.value()},
            {"target", spec_to_json(profile.target_spec)},
            {"loss_saved_bytes", profile.loss_saved.value()},
            {"loss_transient_bytes", profile.loss_transient.value()},
            {"cost_of_layer", cost_of}};
  if (profile.numbers != precision::fp32) {
    j["precision"] = to_string(profile.numbers);
  }
  std::ranges::transform(costs, std::back_inserter(j["costs"]), layer_to_json);
  return j;
}

chain_profile profile_from_json(const json& j) {
  chain_profile p;
  p.samples = j.at("samples").get<std::int64_t>();
  p.numbers = numbers_from_json(j);
  p.targets = bytes_from_json(j.at("target_bytes"));
  p.target_spec = spec_from_json(j.at("target"));
  p.loss_saved = bytes_from_json(j.at("loss_saved_bytes"));
  p.loss_transient = bytes_from_json(j.at("loss_transient_bytes"));
  std::vector<layer_profile> costs;
  std::ranges::transform(j.at("costs"), std::back_inserter(costs), layer_from_json);
  for (const auto& k : j.at("cost_of_layer")) {
    const auto i = k.get<std::size_t>();
    if (i >= costs.size()) {
      refuse("cost_of_layer names cost " + shown_json(k) + " of " + std::to_string(costs.size()));
    }
    p.layers.push_back(costs[i]);
  }
  return p;
}

}  // namespace hydra
