#include "partition/execute/sharded_model.hpp"

#include "models/optimizer/parameter_rule.hpp"
#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"

#include <map>
#include <utility>

namespace hydra {

cursor units_of(model_id id, const sharded_model& m) {
  cursor units(id, m.graphs, m.steps, m.evaluations());
  for (node_index n; n.value < m.graphs->step.size(); n = n.next()) {
    const auto& u = m.graphs->step.at(n).what;
    units.set_time(u.way, u.shard.value, m.plan.expected_time_of(u));
  }
  for (std::uint32_t s = 0; s < m.size(); ++s) {
    units.set_time(direction::evaluate, s, m.plan.shards[s].evaluation_time);
  }
  return units;
}

std::vector<shard> make_shards(const std::shared_ptr<const chain>& model, const cut_points& cuts) {
  std::vector<shard> shards;
  shards.reserve(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    shards.emplace_back(model, cuts[i], last_layer(cuts, i, model->size()));
  }
  return shards;
}

update_options update_of(const sharded_model& model, const placed_parameter& p) {
  return options_of(model.update, model.model->stored_name(p.name), p.form());
}

std::vector<tie> find_ties(const std::vector<shard>& shards) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> places;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const auto& parameters = shards[s].layout().parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      places.emplace(parameters[p].name, std::pair{s, p});
    }
  }
  std::vector<tie> ties;
  for (const auto& [name, place] : places) {
    const auto& copy = shards[place.first].layout().parameters()[place.second];
    if (copy.tied_to.empty() || copy.frozen) {
      continue;
    }
    const auto owner = places.find(copy.tied_to);
    if (owner == places.end()) {
      throw fault_error(fault_code::bad_input,
                        "parameter '" + name + "' is tied to '" + copy.tied_to + "', which the chain does not have");
    }
    ties.push_back({owner->second.first, owner->second.second, place.first, place.second});
  }
  return ties;
}

sharded_model make_sharded(std::shared_ptr<const chain> model, model_plan plan) {
  sharded_model m{.name = plan.name,
                  .model = std::move(model),
                  .shards = {},
                  .ties = {},
                  .plan = std::move(plan),
                  .graphs = {},
                  .update = {}};
  m.graphs = graphs_of(m.plan);
  m.shards = make_shards(m.model, m.plan.cuts());
  m.ties = find_ties(m.shards);
  return m;
}

}  // namespace hydra
