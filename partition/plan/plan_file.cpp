#include "partition/plan/plan_file.hpp"

#include "partition/profile/profile_json.hpp"
#include "partition/profile/side_by_side.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;
using ordered = nlohmann::ordered_json;

[[noreturn]] void refuse_plan(const std::string& source, const std::string& why) {
  throw fault_error(fault_code::bad_input, fmt::format("plan \"{}\": {}", shown(source), why));
}

ordered json_of(const shard_plan& s) {
  ordered shard{{"first_layer", s.first_layer},
                {"last_layer", s.last_layer - 1},
                {"parameter_bytes", s.parameters.value()},
                {"moment_bytes", s.moment_bytes().value()},
                {"input_bytes", s.input.value()},
                {"output_bytes", s.output.value()},
                {"staging_bytes", s.backward.staging().value()},
                {"computing_bytes", s.backward.computing().value()},
                {"forward_s", seconds(s.forward_time)},
                {"backward_s", seconds(s.backward_time)},
                {"update_s", seconds(s.update_time)}};
  if (s.saved > byte_count{}) {
    shard["saved_bytes"] = s.saved.value();
  }
  if (s.base > byte_count{}) {
    shard["base_bytes"] = s.base.value();
  }
  if (s.shared_base) {
    shard["shared_base"] = {{"model", s.shared_base->model.value}, {"shard", s.shared_base->shard.value}};
  }
  if (s.masters) {
    shard["master_bytes"] = s.masters->value();
    shard["gradient_bytes"] = s.gradient_bytes().value();
  }
  if (s.steps_on_device) {
    shard["device_update_s"] = seconds(s.device_update_time);
    shard["moment_buffers"] = s.moments.size();
    shard["working_bytes"] = s.backward.working.value();
    shard["write_back_bytes"] = s.backward.write_back.value();
  }
  return shard;
}

ordered json_of(const model_plan& m) {
  ordered model{{"name", m.name},
                {"micro_batches", m.micro_batches},
                {"samples", m.samples},
                {"sufficient_bytes", m.sufficient.value()},
                {"profile", m.profile}};
  if (m.replicas > 1) {
    model["replicas"] = m.replicas;
  }
  if (m.waves > 1) {
    model["waves"] = m.waves;
  }
  if (m.meets > 0) {
    model["meets"] = m.meets;
  }
  if (m.pieces > 1) {
    model["pieces"] = m.pieces;
  }
  if (m.first_trained > 0) {
    model["first_trained"] = m.first_trained;
  }
  for (const auto& s : m.shards) {
    model["shards"].push_back(json_of(s));
  }
  return model;
}

saved_plan::saved_model model_from_json(const json& j) {
  saved_plan::saved_model m;
  for (const auto& s : j.at("shards")) {
    if (s.at("first_layer").get<std::size_t>() != m.layers) {
      throw fault_error(fault_code::bad_input,
                        fmt::format("shard {} does not start with layer {}", m.cuts.size(), m.layers));
    }
    m.cuts.push_back(m.layers);
    m.layers = s.at("last_layer").get<std::size_t>() + 1;
  }
  validate_cuts(m.cuts, m.layers, j.at("name").get<std::string>());
  return m;
}

saved_plan plan_from_json(const json& j) {
  saved_plan plan;
  for (const auto& m : j.at("models")) {
    plan.models.emplace(m.at("name").get<std::string>(), model_from_json(m));
  }
  for (const auto& [key, profile] : j.at("profiles").items()) {
    plan.profiles.emplace(key, std::make_shared<const chain_profile>(profile_from_json(profile)));
  }
  return plan;
}

byte_count bytes_at(const json& j, const char* key) { return bytes_from_json(j.at(key)); }

/// No update rule has more than two: a file must not decide how long a list becomes. Buffers that devices read are
/// alike; of others only the sum is known.
std::vector<byte_count> moments_from_json(const json& j) {
  const auto all = bytes_at(j, "moment_bytes");
  const auto n = j.contains("device_update_s") ? j.at("moment_buffers").get<double>() : 1.0;
  if (!(n >= 0 && n <= 16)) {
    throw fault_error(fault_code::bad_input, "moment_buffers is " + shown_json(j.at("moment_buffers")));
  }
  const auto buffers = static_cast<std::size_t>(n);
  return std::vector(buffers, buffers == 0 ? byte_count{} : byte_count{all.value() / buffers});
}

shard_plan costs_from_json(const json& j, const chain_profile& profile, std::uint32_t waves) {
  shard_plan s;
  s.first_layer = j.at("first_layer").get<std::size_t>();
  s.last_layer = j.at("last_layer").get<std::size_t>() + 1;
  if (s.first_layer >= s.last_layer || s.last_layer > profile.layers.size()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("a shard ends with layer {} of {}", s.last_layer, profile.layers.size()));
  }
  const bool is_last = s.last_layer == profile.layers.size();
  s.parameters = bytes_at(j, "parameter_bytes");
  s.saved = j.contains("saved_bytes") ? bytes_at(j, "saved_bytes") : byte_count{};
  s.base = j.contains("base_bytes") ? bytes_at(j, "base_bytes") : byte_count{};
  if (j.contains("shared_base")) {
    const auto& name = j.at("shared_base");
    s.shared_base = base_place{model_id{name.at("model").get<std::uint32_t>()},
                               shard_index{name.at("shard").get<std::uint32_t>()}};
  }
  if (j.contains("master_bytes")) {
    s.masters = bytes_at(j, "master_bytes");
    s.gradients = bytes_at(j, "gradient_bytes");
  }
  s.moments = moments_from_json(j);
  s.input = bytes_at(j, "input_bytes");
  s.output = bytes_at(j, "output_bytes");
  s.targets = is_last ? profile.target_spec.bytes() : byte_count{};
  s.backward = footprint_of(profile, s.first_layer, s.last_layer, direction::backward);
  s.evaluation = footprint_of(profile, s.first_layer, s.last_layer, direction::evaluate);
  const bool rounded = s.masters && s.gradients == s.parameters && waves == 1;   // partial sums are fp32
  s.backward = rounded ? with_rounded_gradients(s.backward) : s.backward;
  if (j.contains("device_update_s")) {
    s.steps_on_device = true;
    s.device_update_time = time_from_json(j.at("device_update_s"));
    s.backward.working = bytes_at(j, "working_bytes");
    s.backward.write_back = bytes_at(j, "write_back_bytes");
  }
  s.forward = is_last ? s.backward : footprint_of(profile, s.first_layer, s.last_layer, direction::forward);
  s.forward_time = time_from_json(j.at("forward_s"));
  s.backward_time = time_from_json(j.at("backward_s"));
  s.update_time = time_from_json(j.at("update_s"));
  return s;
}

/// Shards side by side.
void add_groups(model_plan& m, const chain_profile& profile) {
  require_shards_of_pieces(m.cuts(), profile, m.name);
  m.groups = groups_of(profile, m.cuts());
  if (!std::ranges::all_of(m.groups, [&](const shard_group& g) { return g.allows_meeting_at(m.meets); })) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}': replicas cannot meet before shard {}, behind shards side by side",
                                  shown(m.name), m.meets));
  }
  const auto* first = group_of(shard_index{m.first_trained}, m.groups);
  if (first != nullptr && first->first != m.first_trained) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}': shard {} is the first that is trained, but not of its layer",
                                  shown(m.name), m.first_trained));
  }
}

model_plan costs_from_json(const json& j, const profile_set& profiles) {
  model_plan m;
  m.name = j.at("name").get<std::string>();
  m.micro_batches = j.at("micro_batches").get<std::uint32_t>();
  m.replicas = j.value("replicas", 1u);
  m.waves = j.value("waves", 1u);
  m.meets = j.value("meets", 0u);
  m.pieces = j.value("pieces", 1u);
  m.first_trained = j.value("first_trained", 0u);
  m.samples = j.at("samples").get<std::int64_t>();
  m.profile = j.at("profile").get<std::string>();
  const auto profile = profiles.find(m.profile);
  if (profile == profiles.end() || m.micro_batches == 0) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("has no profile or no micro-batch of model '{}'", shown(m.name)));
  }
  for (const auto& s : j.at("shards")) {
    m.shards.push_back(costs_from_json(s, *profile->second, m.waves));
    m.shards.back().evaluation_time = m.shards.back().forward_time / m.micro_batches;
  }
  check_shape(m.shape());
  add_groups(m, *profile->second);
  return m;
}

/// 1 in plans of versions that staged one.
std::uint32_t staged_units_in(const json& j) {
  constexpr std::uint32_t most = 64;
  const auto units = j.value("staged_units", json(1u));
  if (!units.is_number_unsigned() || units == 0u || units > most) {
    throw fault_error(fault_code::bad_input, fmt::format("has {} staged units, expected 1 to {}", units.dump(), most));
  }
  return units.get<std::uint32_t>();
}

workload_plan costs_from_json(const json& j) {
  workload_plan plan;
  plan.profiles = plan_from_json(j).profiles;
  plan.staging_bytes = bytes_at(j, "staging_room_bytes");
  plan.computing_bytes = bytes_at(j, "computing_room_bytes");
  plan.staged_units = staged_units_in(j);
  for (const auto& m : j.at("models")) {
    plan.models.push_back(costs_from_json(m, plan.profiles));
  }
  for (const auto& s : plan.models | std::views::transform(&model_plan::shards) | std::views::join) {
    if (s.shared_base && s.shared_base->model.value >= plan.models.size()) {
      throw fault_error(fault_code::bad_input, fmt::format("a shard has the base of model {}, which is not there",
                                                           s.shared_base->model.value));
    }
  }
  return plan;
}

/// The result of `read`, its faults with the plan's name in front.
template <class Read>
auto parsed(std::string_view text, const std::string& source, Read read) {
  try {
    return read(parse_json(text));
  } catch (const json::parse_error& e) {
    refuse_plan(source,
           fmt::format("is not JSON, or was cut off, at byte {}; `hydra plan --save` and runs write plans", e.byte));
  } catch (const json::exception& e) {
    refuse_plan(source, fmt::format("is JSON, but no plan of Hydra ({}); `hydra plan --save` and runs write plans",
                                    json_complaint(e)));
  } catch (const fault_error& e) {
    refuse_plan(source, e.what_happened().text);
  }
}

}  // namespace

std::string to_json(const workload_plan& plan) {
  ordered root{{"staging_room_bytes", plan.staging_bytes.value()},
               {"computing_room_bytes", plan.computing_bytes.value()},
               {"staged_units", plan.staged_units},
               {"sufficient_bytes", plan.sufficient.value()},
               {"host_bytes", plan.host_needed.value()},
               {"models", ordered::array()},
               {"profiles", ordered::object()}};
  for (const auto& m : plan.models) {
    root["models"].push_back(json_of(m));
  }
  for (const auto& [key, profile] : plan.profiles) {
    root["profiles"][key] = profile_to_json(*profile);
  }
  return json_text(root, 2) + "\n";
}

saved_plan parse_plan(std::string_view text, std::string source) {
  auto plan = parsed(text, source, [](const json& j) { return plan_from_json(j); });
  plan.source = std::move(source);
  return plan;
}

workload_plan parse_costs(std::string_view text, std::string source) {
  return parsed(text, source, [](const json& j) { return costs_from_json(j); });
}

saved_plan load_plan(const std::filesystem::path& file) {
  if (kind_of(file) == std::filesystem::file_type::not_found) {
    refuse_plan(file.string(), "no such file (relative paths start at the working directory)");
  }
  return parse_plan(read_text(file, text_kind::plan), file.string());
}

cut_points cuts_for(const saved_plan& plan, const std::string& model, std::size_t layers) {
  const auto found = plan.models.find(model);
  if (found == plan.models.end()) {
    std::vector<std::string> names;
    for (const auto& [name, m] : plan.models) {
      names.push_back(name);
    }
    refuse_plan(plan.source, fmt::format("has no model '{}'{}", shown(model), known_instead(model, names)));
  }
  if (found->second.layers != layers) {
    refuse_plan(plan.source, fmt::format("cuts {} layers of model '{}', but its chain has {}; plan it again, or choose "
                                    "other cuts",
                                    found->second.layers, shown(model), layers));
  }
  return found->second.cuts;
}

}  // namespace hydra
