#include "partition/plan.hpp"

#include "models/parameter_layout.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace hydra {

namespace {

/// In micro-batches; the scalars of a footprint have room for so many losses.
constexpr std::uint32_t longest_evaluation_visit = 256;

struct device_limit {
  std::string name;
  byte_count memory;    ///< M
  byte_count reserve;
  byte_count usable;    ///< M - reserve
};

device_limit smallest(std::span<const plan_device> devices) {
  if (devices.empty()) {
    throw fault_error(fault_code::bad_input, "the workload has no device; add one [[device]] at least");
  }
  device_limit limit;
  for (const auto& d : devices) {
    const auto usable = d.memory > d.reserve ? d.memory - d.reserve : byte_count{};
    if (limit.name.empty() || usable < limit.usable) {
      limit = {d.name, d.memory, d.reserve, usable};
    }
  }
  return limit;
}

/// The smallest W and P + C that cuts of this model can reach: one layer a shard, or the given cuts.
shard_demand least_demand(const plan_request& request) {
  shard_demand least;
  const auto& layers = request.profile->layers;
  const auto* given = std::get_if<cut_points>(&request.cuts);
  for (std::size_t i = 0; i < (given ? given->size() : layers.size()); ++i) {
    const auto first = given ? (*given)[i] : i;
    const auto last = given ? last_layer(*given, i, layers.size()) : i + 1;
    const auto demand = demand_of(*request.profile, first, last);
    least.staging = std::max(least.staging, demand.staging);
    least.computing = std::max(least.computing, demand.computing);
  }
  return least;
}

shard_demand least_demand(std::span<const plan_request> models) {
  shard_demand all;
  for (const auto& m : models) {
    const auto one = least_demand(m);
    all = {std::max(all.staging, one.staging), std::max(all.computing, one.computing)};
  }
  return all;
}

/// The piece of the workload that alone asks for most: what a refusal names.
std::string largest_piece(std::span<const plan_request> models) {
  std::string text;
  byte_count most;
  for (const auto& m : models) {
    const auto* given = std::get_if<cut_points>(&m.cuts);
    const auto count = given ? given->size() : m.profile->layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = given ? (*given)[i] : i;
      const auto last = given ? last_layer(*given, i, m.profile->layers.size()) : i + 1;
      const auto demand = demand_of(*m.profile, first, last);
      if (demand.computing > most) {
        most = demand.computing;
        text = fmt::format("{} of model '{}' ({}) needs {} to compute and {} to stage",
                           given ? fmt::format("shard {} (layers {} to {})", i, first, last - 1) : fmt::format("layer {}", i),
                           m.name, m.model->at(first).prefix, to_string(demand.computing), to_string(demand.staging));
      }
    }
  }
  return text;
}

[[noreturn]] void refuse(std::span<const plan_request> models, const device_limit& limit) {
  const auto least = least_demand(models);
  const auto sufficient = least.staging + least.computing + limit.reserve;
  throw fault_error(fault_code::does_not_fit,
                    fmt::format("the workload does not fit device {} with memory = {}: {}; the smallest sufficient "
                                "memory of every device is {} ({} bytes). Raise memory, use more micro_batches, or "
                                "make the largest layer smaller",
                                limit.name, to_string(limit.memory), largest_piece(models), to_string(sufficient),
                                sufficient.value()));
}

/// Demands of all contiguous pieces of a profile, computed once: [first][last - first - 1].
using demand_table = std::vector<std::vector<shard_demand>>;

demand_table tabulate(const chain_profile& profile) {
  demand_table table(profile.layers.size());
  for (std::size_t first = 0; first < profile.layers.size(); ++first) {
    for (std::size_t last = first + 1; last <= profile.layers.size(); ++last) {
      table[first].push_back(demand_of(profile, first, last));
    }
  }
  return table;
}

duration visit_time(const chain_profile& profile, std::size_t first, std::size_t last) {
  duration backward{};
  for (std::size_t i = first; i < last; ++i) {
    backward += profile.layers[i].backward;
  }
  return backward;
}

struct cut_result {
  std::vector<cut_points> cuts;   ///< per request
  std::size_t shards = 0;
  duration largest{};
};

/// The paper's greedy cut on a table of demands.
std::optional<cut_points> greedy_on(const demand_table& table, const cut_limits& limits) {
  cut_points cuts;
  for (std::size_t first = 0; first < table.size();) {
    std::size_t n = 0;
    while (n < table[first].size() && table[first][n].staging <= limits.staging &&
           table[first][n].computing <= limits.computing) {
      ++n;
    }
    if (n == 0) {
      return std::nullopt;
    }
    cuts.push_back(first);
    first += n;
  }
  return cuts;
}

class planner {
 public:
  planner(std::span<const plan_request> models, byte_count usable) : models_(models), usable_(usable) {
    for (const auto& m : models) {
      if (!tables_.contains(m.profile)) {
        tables_.emplace(m.profile, tabulate(*m.profile));
      }
    }
  }

  /// The best of all staging rooms.
  std::optional<cut_result> best() const {
    std::optional<cut_result> best;
    for (const auto room : rooms()) {
      auto result = cut_all({.computing = usable_ - room, .staging = room});
      // Rooms ascend, so an equal result with a smaller room stays.
      if (result && (!best || std::tie(result->shards, result->largest) < std::tie(best->shards, best->largest))) {
        best = std::move(result);
      }
    }
    return best;
  }

 private:
  std::set<byte_count> rooms() const {
    std::set<byte_count> rooms;
    for (const auto& [profile, table] : tables_) {
      for (const auto& row : table) {
        for (const auto& demand : row) {
          if (demand.staging < usable_) {
            rooms.insert(demand.staging);
          }
        }
      }
    }
    return rooms;
  }

  std::optional<cut_result> cut_all(const cut_limits& limits) const {
    cut_result all;
    for (const auto& m : models_) {
      auto cuts = cut_one(m, limits);
      if (!cuts) {
        return std::nullopt;
      }
      const auto layers = m.profile->layers.size();
      for (std::size_t i = 0; i < cuts->size(); ++i) {
        all.largest = std::max(all.largest, visit_time(*m.profile, (*cuts)[i], last_layer(*cuts, i, layers)));
      }
      all.shards += cuts->size();
      all.cuts.push_back(std::move(*cuts));
    }
    return all;
  }

  std::optional<cut_points> cut_one(const plan_request& m, const cut_limits& limits) const {
    const auto* given = std::get_if<cut_points>(&m.cuts);
    if (!given) {
      return greedy_on(tables_.at(m.profile), limits);
    }
    const auto demand = least_demand(m);
    return demand.staging <= limits.staging && demand.computing <= limits.computing ? std::optional(*given) : std::nullopt;
  }

  std::span<const plan_request> models_;
  byte_count usable_;
  std::map<const chain_profile*, demand_table> tables_;
};

shard_plan plan_shard(const plan_request& m, std::size_t first, std::size_t last) {
  const auto& layers = m.profile->layers;
  const bool is_last = last == layers.size();
  const parameter_layout layout(*m.model, first, last);
  shard_plan s;
  s.first_layer = first;
  s.last_layer = last;
  s.parameters = layout.bytes();
  s.moment_buffers = static_cast<std::uint64_t>(m.moments);
  s.moments = byte_count{layout.state_elements() * sizeof(float)} * static_cast<std::uint64_t>(m.moments);
  s.input_spec = layers[first].input_spec;
  s.second_spec = is_last ? m.profile->target_spec : layers[last - 1].output_spec;
  s.input = s.input_spec.bytes();
  s.output = is_last ? byte_count{} : layers[last - 1].output_spec.bytes();
  s.targets = is_last ? m.profile->target_spec.bytes() : byte_count{};
  s.backward = footprint_of(*m.profile, first, last, direction::backward);
  s.forward = is_last ? s.backward : footprint_of(*m.profile, first, last, direction::forward);
  s.evaluation = footprint_of(*m.profile, first, last, direction::evaluate);
  for (std::size_t i = first; i < last; ++i) {
    s.forward_time += layers[i].forward * m.micro_batches;
    s.evaluation_time += layers[i].forward;
    s.backward_time += layers[i].backward * m.micro_batches;
  }
  return s;
}

model_plan plan_model(const plan_request& m, const cut_points& cuts) {
  model_plan plan;
  plan.name = m.name;
  plan.micro_batches = m.micro_batches;
  plan.samples = m.profile->samples;
  plan.evaluation = {.micro_batches = m.evaluation, .round = std::min(m.micro_batches * 4, longest_evaluation_visit)};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    plan.shards.push_back(plan_shard(m, cuts[i], last_layer(cuts, i, m.profile->layers.size())));
  }
  return plan;
}

const footprint& footprint_for(const shard_plan& s, direction way) {
  return way == direction::forward ? s.forward : way == direction::backward ? s.backward : s.evaluation;
}

void set_rooms(workload_plan& plan) {
  for (const auto& m : plan.models) {
    for (const auto& s : m.shards) {
      for (const auto way : {direction::forward, direction::backward, direction::evaluate}) {
        plan.staging_room = std::max(plan.staging_room, footprint_for(s, way).staging());
        plan.computing_room = std::max(plan.computing_room, footprint_for(s, way).computing());
      }
    }
  }
}

}  // namespace

std::uint32_t evaluation_range::size_of(std::uint32_t first) const noexcept {
  return first < micro_batches ? std::min(round, micro_batches - first) : 0;
}

cut_points model_plan::cuts() const {
  cut_points cuts;
  for (const auto& s : shards) {
    cuts.push_back(s.first_layer);
  }
  return cuts;
}

byte_count model_plan::bytes_of(const block_id& id) const {
  const auto& s = shards.at(id.shard.value);
  switch (id.kind) {
    case block_kind::parameters:
    case block_kind::gradients:
      return s.parameters;
    case block_kind::activation:
    case block_kind::upstream:
      return s.output;
    case block_kind::minibatch:
      return s.input;
    case block_kind::targets:
      return s.targets;
    case block_kind::loss:
      return byte_count{sizeof(float)} * (id.pass == pass_kind::train ? 1 : 2 * evaluation.size_of(id.micro_batch.value));
    case block_kind::state:
      break;
  }
  return {};
}

const footprint& model_plan::footprint_of(const unit& u) const {
  return footprint_for(shards.at(u.shard.value), u.way);
}

duration model_plan::time_of(const unit& u) const {
  const auto& s = shards.at(u.shard.value);
  if (u.way == direction::evaluate) {
    return s.evaluation_time * u.micro_batches;
  }
  return u.way == direction::forward ? s.forward_time : s.backward_time;
}

workload_plan make_plan(std::span<const plan_request> models, std::span<const plan_device> devices) {
  const auto limit = smallest(devices);
  for (const auto& m : models) {
    if (const auto* given = std::get_if<cut_points>(&m.cuts)) {
      validate_cuts(*given, m.profile->layers.size(), m.name);
    }
  }
  const auto best = planner(models, limit.usable).best();
  if (!best) {
    refuse(models, limit);
  }
  workload_plan plan;
  for (std::size_t i = 0; i < models.size(); ++i) {
    plan.models.push_back(plan_model(models[i], best->cuts[i]));
  }
  set_rooms(plan);
  plan.host_needed = host_demand(plan.models, devices.size());
  return plan;
}

void shorten_evaluations(workload_plan& plan, byte_count cap, std::size_t devices) {
  for (bool shorter = true; shorter && plan.host_needed > cap;) {
    shorter = false;
    for (auto& m : plan.models) {
      shorter = shorter || m.evaluation.round > 1;
      m.evaluation.round = std::max(m.evaluation.round / 2, 1u);
    }
    plan.host_needed = host_demand(plan.models, devices);
  }
}

void check_host(const workload_plan& plan, byte_count cap) {
  if (plan.host_needed > cap) {
    throw fault_error(fault_code::does_not_fit,
                      fmt::format("the run needs {} ({} bytes) of host memory for parameters, optimizer state, "
                                  "boundary activations, gradients and batches, but [host] memory allows {}; raise "
                                  "it, or train fewer models at once",
                                  to_string(plan.host_needed), plan.host_needed.value(), to_string(cap)));
  }
}

std::string to_json(const workload_plan& plan) {
  nlohmann::ordered_json root;
  root["staging_room_bytes"] = plan.staging_room.value();
  root["computing_room_bytes"] = plan.computing_room.value();
  root["host_bytes"] = plan.host_needed.value();
  root["models"] = nlohmann::json::array();
  for (const auto& m : plan.models) {
    nlohmann::ordered_json model{{"name", m.name}, {"micro_batches", m.micro_batches}, {"samples", m.samples}};
    for (const auto& s : m.shards) {
      model["shards"].push_back({{"first_layer", s.first_layer},
                                 {"last_layer", s.last_layer - 1},
                                 {"parameter_bytes", s.parameters.value()},
                                 {"moment_bytes", s.moments.value()},
                                 {"input_bytes", s.input.value()},
                                 {"output_bytes", s.output.value()},
                                 {"staging_bytes", s.backward.staging().value()},
                                 {"computing_bytes", s.backward.computing().value()},
                                 {"forward_s", seconds(s.forward_time)},
                                 {"backward_s", seconds(s.backward_time)}});
    }
    root["models"].push_back(std::move(model));
  }
  return root.dump(2) + "\n";
}

}  // namespace hydra
