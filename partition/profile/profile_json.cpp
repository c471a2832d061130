#include "partition/profile/profile_json.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <string_view>

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

/// By term_join.
constexpr std::array<std::string_view, 3> joins{"sum", "sum with input", "columns"};

/// Of those that are beside others.
ordered places_to_json(std::span<const chain_place> places) {
  auto all = ordered::array();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [piece, join] = places[i];
    if (piece.first() && !piece.whole()) {
      all.push_back({{"first", i}, {"layers", piece.of}, {"join", joins[static_cast<std::size_t>(join)]}});
    }
  }
  return all;
}

std::vector<chain_place> places_from_json(const json& j, std::size_t layers) {
  if (!j.contains("side_by_side")) {
    return {};
  }
  std::vector<chain_place> all(layers);
  for (const auto& group : j.at("side_by_side")) {
    const auto first = group.at("first").get<std::size_t>();
    const auto count = group.at("layers").get<std::uint32_t>();
    const auto join = std::ranges::find(joins, group.at("join").get<std::string>());
    const auto place = static_cast<term_join>(join - joins.begin());
    const bool early = first < (place == term_join::sum_with_input ? 2U : 0U);
    const auto joined = [&](std::size_t i) { return i < layers && !all[i].piece.whole(); };  // one is behind each group
    if (join == joins.end() || count < 2 || first >= layers || count >= layers - first || early ||
        joined(first - 1) || joined(first + count)) {
      refuse("layers " + shown_json(group) + " of " + std::to_string(layers) + " cannot be side by side");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!all[first + i].piece.whole()) {
        refuse("layer " + std::to_string(first + i) + " is side by side with others twice");
      }
      all[first + i] = {.piece = {i, count}, .join = place};
    }
  }
  return all;
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
  if (!profile.places.empty()) {
    j["side_by_side"] = places_to_json(profile.places);
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
  p.places = places_from_json(j, p.layers.size());
  return p;
}

}  // namespace hydra
