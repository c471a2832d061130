#include "actors/cluster/simulated_node.hpp"

#include "runtime/collective/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace hydra {

namespace {

/// Replicas of a step, divided evenly: those of the node with most.
std::uint32_t most_replicas(std::uint32_t replicas, std::uint32_t nodes) { return (replicas + nodes - 1) / nodes; }

std::vector<std::uint32_t> nodes_of_replicas(std::uint32_t replicas, std::uint32_t nodes) {
  std::vector<std::uint32_t> node_of;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    node_of.insert(node_of.end(), replicas * (n + 1) / nodes - replicas * n / nodes, n);
  }
  return node_of;
}

duration exchange_of(const model_plan& plan, byte_count gradients, std::uint32_t nodes, const network_rates& network) {
  const auto node_of = nodes_of_replicas(plan.replicas, nodes);
  const auto values = gradients.value() / sizeof(float);
  if (plan.gathered_sums == 0) {
    return predicted_time(make_direct(node_of, values), sizeof(float), network, node_of);
  }
  duration all{};
  for (std::uint32_t r = 0; r < plan.replicas; ++r) {
    all += predicted_time(make_broadcast(r, plan.replicas, values), sizeof(float), network, node_of);
  }
  return all;
}

duration part_of(duration d, std::uint32_t part, std::uint32_t all) { return d * part / all; }

}  // namespace

sharded_model_ptr share_of(const sharded_model& m, std::uint32_t nodes, const network_rates& network) {
  auto share = std::make_shared<sharded_model>(m);
  share->name = fmt::format("{} on {} nodes", m.name, nodes);
  auto& plan = share->plan;
  const auto all = m.plan.replicas;
  const auto here = most_replicas(all, nodes);
  plan.name = share->name;
  plan.replicas = here;
  plan.micro_batches = m.plan.micro_batches / all * here;
  for (auto& s : plan.shards) {
    s.forward_time = part_of(s.forward_time, here, all);
    s.backward_time = part_of(s.backward_time, here, all);
    s.update_time += exchange_of(m.plan, s.partial_sum_bytes(), nodes, network);
  }
  return share;
}

/// Keeps the states of models between two steps, of which a simulation has no bytes. Shares of a model have the same states.
class simulated_node::store final : public checkpoint_store {
 public:
  explicit store(saved_models& saved) : saved_(saved) {}
  void add(const sharded_model_ptr& share, const std::string& model) { shares_[share->name] = {share, model}; }

  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    for (auto s = c.what->size(); s-- > 0;) {
      saved(shard_index{static_cast<std::uint32_t>(s)});
    }
    auto kept = c;
    kept.memory.homes.clear();
    kept.memory.boundaries.clear();
    saved_.insert_or_assign(shares_.at(c.what->name).model, std::move(kept));
  }

  std::optional<model_checkpoint> of(const std::string& name) const {
    const auto& [share, model] = shares_.at(name);
    const auto found = saved_.find(model);
    if (found == saved_.end()) {
      return std::nullopt;
    }
    auto c = found->second;
    c.what = share;
    c.memory = {.homes = homes_without_bytes(share->plan), .versions = c.memory.versions};
    return c;
  }

 private:
  struct share_of_model {
    sharded_model_ptr share;
    std::string model;
  };
  saved_models& saved_;
  std::map<std::string, share_of_model> shares_;
};

simulated_node::simulated_node(simulation_setup plan, double speed, const std::vector<std::uint32_t>& most_nodes,
                               const network_rates& network, saved_models& saved)
    : store_(std::make_unique<store>(saved)) {
  const auto models = std::exchange(plan.planned, {});
  for (std::size_t m = 0; m < models.size(); ++m) {
    by_.emplace_back();
    for (std::uint32_t nodes = 1; nodes <= most_nodes[m]; ++nodes) {
      by_[m].push_back(plan.planned.size());
      plan.planned.push_back(nodes == 1 ? models[m] : share_of(*models[m], nodes, network));
      names_.push_back(plan.planned.back()->name);
      store_->add(plan.planned.back(), models[m]->name);
    }
  }
  for (auto& d : plan.devices) {
    d.speed *= speed;
  }
  plan.waiting.clear();
  for (std::uint32_t i = 0; i < plan.planned.size(); ++i) {
    plan.waiting.insert(model_id{i});
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

std::size_t simulated_node::number_of(std::size_t model, std::uint32_t nodes) const {
  return by_.at(model).at(nodes - 1);
}

void simulated_node::steer(std::size_t model, std::uint32_t nodes, model_command what, command_sink answer) {
  run_->steer(names_[number_of(model, nodes)], what, std::move(answer));
}

const model_now& simulated_node::of(std::size_t model, std::uint32_t nodes) const {
  return status_.models.at(number_of(model, nodes));
}

void simulated_node::read() { status_ = run_->status(); }

}  // namespace hydra
