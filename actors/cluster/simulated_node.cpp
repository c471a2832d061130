#include "actors/cluster/simulated_node.hpp"

#include "partition/plan/plan_outline.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/collective/collective.hpp"
#include "runtime/collective/even_parts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace hydra {

namespace {

std::uint64_t values_in(byte_count n) { return n.value() / sizeof(float); }

/// Every sum goes from its node to every other one, all at the same time.
collective gathering(const std::vector<std::uint32_t>& node_of, std::uint32_t nodes, std::uint64_t values) {
  collective all{.summands = nodes, .parties = nodes, .values = values, .rounds = {}};
  for (const auto from : node_of) {
    const auto one = make_broadcast(from, nodes, values);
    all.rounds.resize(std::max(all.rounds.size(), one.rounds.size()));
    for (std::size_t i = 0; i < one.rounds.size(); ++i) {
      all.rounds[i].insert(all.rounds[i].end(), one.rounds[i].begin(), one.rounds[i].end());
    }
  }
  return all;
}

duration exchange_of(const shard_plan& s, const std::vector<std::uint32_t>& node_of, const simulated_team& team,
                     const network_rates& network) {
  if (!team.gathers) {
    return predicted_time(make_direct(node_of, values_in(s.partial_sum_bytes())), sizeof(float), network, node_of);
  }
  return predicted_time(gathering(node_of, team.nodes, values_in(s.gradient_bytes())), sizeof(float), network);
}

duration part_of(duration d, std::uint32_t part, std::uint32_t all) { return d * part / all; }

}  // namespace

sharded_model_ptr share_of(const sharded_model& m, const simulated_team& team, const network_rates& network) {
  auto share = std::make_shared<sharded_model>(m);
  auto& plan = share->plan;
  const auto all = m.plan.replicas;
  const auto parts = even_parts(all, team.nodes);
  const auto node_of = nodes_of_replicas(parts);
  const auto here = std::ranges::max(parts);
  plan.replicas = here;
  plan.micro_batches = m.plan.micro_batches / all * here;
  plan.gathered_sums = team.gathers ? all - here : 0;
  for (auto& s : plan.shards) {
    s.forward_time = part_of(s.forward_time, here, all);
    s.backward_time = part_of(s.backward_time, here, all);
    s.update_time += exchange_of(s, node_of, team, network);
  }
  share->graphs = graphs_of(plan);
  return share;
}

/// Keeps the states of models between two steps, of which a simulation has no bytes.
class simulated_node::store final : public checkpoint_store {
 public:
  explicit store(saved_models& saved) : saved_(saved) {}
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    for (auto s = c.what->size(); s-- > 0;) {
      saved(shard_index{static_cast<std::uint32_t>(s)});
    }
    auto kept = c;
    kept.memory.homes = homes_without_bytes(c.what->plan);
    kept.memory.boundaries.clear();
    saved_.insert_or_assign(c.what->name, std::move(kept));
  }
  std::optional<model_checkpoint> of(const std::string& model) const {
    const auto found = saved_.find(model);
    return found == saved_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  saved_models& saved_;
};

simulated_node::simulated_node(simulation_setup plan, double speed, const std::vector<simulated_team>& teams,
                               const network_rates& network, saved_models& saved)
    : store_(std::make_unique<store>(saved)) {
  for (std::uint32_t m = 0; m < plan.planned.size(); ++m) {
    auto& model = plan.planned[m];
    model = teams[m].nodes == 1 ? model : share_of(*model, teams[m], network);
    names_.push_back(model->name);
    plan.waiting.insert(model_id{m});
  }
  for (auto& d : plan.devices) {
    d.speed *= speed;
  }
  plan.begin_paused = true;
  plan.records_spans = false;
  plan.checkpoints = {.store = store_.get(), .every_steps = 0, .every = {}};
  plan.saved = [this](const std::string& name) { return store_->of(name); };
  run_ = std::make_unique<simulation>(std::move(plan));
  start_ = run_->now();
}

simulated_node::~simulated_node() = default;

void simulated_node::run_until(duration t) { run_->run_until(start_ + t); }

bool simulated_node::is_idle() const { return run_->is_idle(); }

void simulated_node::steer(std::size_t model, model_command what, command_sink answer) {
  run_->steer(names_.at(model), what, std::move(answer));
}

std::vector<model_now> simulated_node::models() {
  if (const auto& record = run_->record(); record && record->aborted) {
    throw fault_error(record->aborted);
  }
  return run_->status().models;
}

}  // namespace hydra
