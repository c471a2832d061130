#include "actors/cluster/assignments.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint32_t most_refusals = 3;

/// The nodes of a model, its first one in front.
std::vector<std::size_t> taken_by(const cluster_model& m) {
  std::vector<std::size_t> all;
  if (m.node) {
    all.push_back(*m.node);
  }
  all.insert(all.end(), m.helpers.begin(), m.helpers.end());
  return all;
}

bool is_on_a_node(const cluster_model& m) {
  return m.phase != assignment_phase::waiting && m.phase != assignment_phase::ended;
}

}  // namespace

std::size_t assignments::add_model(std::string name, duration remaining, byte_count checkpoint) {
  models_.push_back({.name = std::move(name), .remaining = remaining, .checkpoint = checkpoint});
  return models_.size() - 1;
}

std::size_t assignments::add_node(std::string name, const node_capacity& capacity) {
  nodes_.push_back({.name = std::move(name), .capacity = capacity});
  return nodes_.size() - 1;
}

void assignments::estimated(std::size_t model, duration remaining, byte_count checkpoint, std::uint32_t nodes) {
  models_.at(model).nodes = nodes;
  models_.at(model).remaining = remaining;
  models_.at(model).checkpoint = checkpoint;
}

void assignments::found(std::size_t model, std::optional<std::uint32_t> saved_at) {
  models_.at(model).saved_at = saved_at;
  models_.at(model).steps = models_.at(model).saved_steps();
}

void assignments::stopped(std::size_t model) {
  models_.at(model).phase = assignment_phase::ended;
  models_.at(model).remaining = {};
}

// -- events -----------------------------------------------------------------------------------------------------------

cluster_model* assignments::current(std::size_t number, assignment_epoch epoch) {
  auto& m = models_.at(number);
  return m.epoch == epoch && is_on_a_node(m) ? &m : nullptr;
}

/// All of its nodes; `without`: one that knows it, or cannot be told.
void assignments::leave_nodes(cluster_model& m, std::optional<std::size_t> without) {
  const auto number = static_cast<std::size_t>(&m - models_.data());
  for (const auto n : taken_by(m)) {
    if (n != without && nodes_[n].here) {
      drops_.push_back({number, n, m.epoch});
    }
  }
  m.node.reset();
  m.helpers.clear();
}

void assignments::node_lost(std::size_t node) {
  nodes_.at(node).here = false;
  for (auto& m : models_) {
    if (m.is_on(node)) {
      leave_nodes(m, node);
      m.phase = assignment_phase::waiting;
      m.moves_to.reset();
      m.steps = m.saved_steps();
      ++m.epoch;
    }
  }
}

bool assignments::began(std::size_t number, assignment_epoch epoch) {
  auto* m = current(number, epoch);
  if (!m || m->phase != assignment_phase::assigned) {
    return false;
  }
  m->phase = assignment_phase::training;
  return true;
}

bool assignments::refused(std::size_t number, assignment_epoch epoch, const fault& why, std::optional<std::size_t> by) {
  auto* m = current(number, epoch);
  if (!m || (by && !m->is_on(*by))) {
    return false;
  }
  const auto node = by.value_or(*m->node);
  m->failed_teams += m->helpers.empty() ? 0 : 1;
  m->moves_to.reset();
  if (why.code == fault_code::does_not_fit || why.code == fault_code::refused) {
    m->too_large_for.insert(node);
  } else if (why.code == fault_code::io) {
    m->avoids.insert(node);
  } else {
    ++m->refusals;
  }
  leave_nodes(*m, m->helpers.empty() ? std::optional(node) : std::nullopt);
  m->why = why;
  m->steps = m->saved_steps();
  m->phase = m->refusals == most_refusals ? assignment_phase::ended : assignment_phase::waiting;
  ++m->epoch;
  return true;
}

void assignments::forgive() {
  for (auto& m : models_) {
    m.avoids.clear();
    m.stays = false;
  }
}

bool assignments::progressed(std::size_t number, assignment_epoch epoch, std::uint32_t steps, duration remaining) {
  auto* m = current(number, epoch);
  if (!m) {
    return false;
  }
  m->steps = steps;
  m->remaining = remaining;
  return true;
}

bool assignments::saved(std::size_t number, assignment_epoch epoch, std::uint32_t step) {
  auto* m = current(number, epoch);
  if (!m) {
    return false;
  }
  m->refusals = step > m->saved_at.value_or(0) ? 0 : m->refusals;
  m->saved_at = step;
  m->steps = std::max(m->steps, step);  // it may have said less
  return true;
}

bool assignments::released(std::size_t number, assignment_epoch epoch) {
  auto* m = current(number, epoch);
  if (!m) {
    return false;
  }
  m->phase = assignment_phase::waiting;
  m->steps = m->saved_steps();
  leave_nodes(*m, m->helpers.empty() ? m->node : std::nullopt);
  ++m->epoch;
  return true;
}

bool assignments::stays(std::size_t number, assignment_epoch epoch) {
  auto* m = current(number, epoch);
  if (!m || m->phase != assignment_phase::taken_back) {
    return false;
  }
  m->phase = assignment_phase::training;
  m->stays = true;
  m->moves_to.reset();
  return true;
}

bool assignments::ended(std::size_t number, assignment_epoch epoch, const fault& why) {
  auto* m = current(number, epoch);
  if (!m) {
    return false;
  }
  m->phase = assignment_phase::ended;
  leave_nodes(*m, m->helpers.empty() ? m->node : std::nullopt);
  m->why = why;
  m->remaining = {};
  return true;
}

// -- decisions --------------------------------------------------------------------------------------------------------

std::vector<std::size_t> assignments::taking_models() const {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (takes_models(n)) {
      all.push_back(n);
    }
  }
  return all;
}

/// Of all models, in their order; numbers of nodes are places in `nodes`. Those on other nodes are on none, and take no
/// part.
std::vector<placeable_model> assignments::placeable(const std::vector<std::size_t>& nodes) const {
  const auto place_of = [&](std::size_t n) {
    return static_cast<std::size_t>(std::ranges::find(nodes, n) - nodes.begin());
  };
  std::vector<placeable_model> all;
  for (const auto& m : models_) {
    placeable_model p{.remaining = m.remaining, .checkpoint = m.checkpoint, .begun = m.saved_at || m.steps > 0};
    if (m.node && place_of(*m.node) < nodes.size()) {
      p.on = place_of(*m.node);
      p.moves = m.helpers.empty();
    }
    p.remaining /= static_cast<std::int64_t>(m.helpers.size() + 1);
    for (const auto& nodes_of : {m.too_large_for, m.avoids}) {
      for (const auto n : nodes_of) {
        p.too_large_for.insert(place_of(n));
      }
    }
    all.push_back(std::move(p));
  }
  for (const auto& m : models_) {  // behind them, what else nodes have to do
    for (const auto helper : m.helpers) {
      if (place_of(helper) < nodes.size()) {
        const auto share = m.remaining / static_cast<std::int64_t>(m.helpers.size() + 1);
        all.push_back({.remaining = share, .begun = true, .on = place_of(helper), .moves = false});
      }
    }
  }
  return all;
}

std::vector<node_capacity> assignments::capacities(const std::vector<std::size_t>& nodes) const {
  std::vector<node_capacity> all;
  for (const auto n : nodes) {
    all.push_back(nodes_[n].capacity);
    all.back().restart = restart_;
  }
  return all;
}

std::vector<cluster_command> assignments::decide() {
  std::vector<cluster_command> commands;
  take_back_unwanted(commands);
  place_waiting(commands);
  if (commands.empty()) {
    move_one(commands);
  }
  commands.insert(commands.begin(), drops_.begin(), drops_.end());
  drops_.clear();
  return commands;
}

/// Models of nodes that leave, and models that are paused.
void assignments::take_back_unwanted(std::vector<cluster_command>& commands) {
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const bool leaves = std::ranges::any_of(taken_by(models_[m]), [this](std::size_t n) { return nodes_[n].leaving; });
    if (models_[m].phase == assignment_phase::training && (leaves || models_[m].paused) && !models_[m].stays) {
      take_back(m, commands);
    }
  }
}

void assignments::place_waiting(std::vector<cluster_command>& commands) {
  const auto nodes = taking_models();
  auto candidates = placeable(nodes);
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if ((models_[m].phase != assignment_phase::waiting || models_[m].paused) && !candidates[m].on) {
      candidates[m].remaining = {};  // ended, paused, or on a node that leaves
    }
  }
  for (std::size_t m = 0; m < models_.size(); ++m) {  // those that move are placed already
    const auto to = std::exchange(models_[m].moves_to, std::nullopt);
    if (models_[m].phase == assignment_phase::waiting && to && takes_models(*to) && !models_[m].paused) {
      assign(m, *to, commands);
      ++moves_;
      candidates[m].on = static_cast<std::size_t>(std::ranges::find(nodes, *to) - nodes.begin());
    } else if (models_[m].phase == assignment_phase::taken_back) {
      models_[m].moves_to = to;
    }
  }
  const auto places = place(candidates, capacities(nodes));
  for (std::size_t m = 0; m < models_.size(); ++m) {
    if (models_[m].phase == assignment_phase::waiting && places[m] && !models_[m].held && !models_[m].paused) {
      assign(m, nodes[*places[m]], commands);
    }
  }
}

void assignments::assign(std::size_t m, std::size_t node, std::vector<cluster_command>& commands) {
  models_[m].helpers = helpers_for(m, node);
  models_[m].phase = assignment_phase::assigned;
  models_[m].node = node;
  commands.push_back(assign_model{m, node, models_[m].epoch, models_[m].saved_at, models_[m].helpers});
}

/// Those with the fewest models, as many as there are.
std::vector<std::size_t> assignments::helpers_for(std::size_t m, std::size_t node) const {
  std::vector<std::size_t> all;
  for (const auto n : taking_models()) {
    if (n != node && !models_[m].too_large_for.contains(n) && !models_[m].avoids.contains(n)) {
      all.push_back(n);
    }
  }
  std::ranges::stable_sort(all, {}, [this](std::size_t n) {
    return std::ranges::count_if(models_, [n](const cluster_model& other) { return other.is_on(n); });
  });
  all.resize(std::min<std::size_t>(all.size(), models_[m].nodes - 1));
  return all;
}

/// More nodes than it has would train it. Each time that some cannot reach each other, more must be left to train for
/// another try.
bool assignments::may_grow(const cluster_model& m) const {
  const auto here = m.helpers.size() + 1;
  const auto fit = std::ranges::count_if(
      taking_models(), [&](std::size_t n) { return !m.too_large_for.contains(n) && !m.avoids.contains(n); });
  const auto transfer = m.node ? nodes_[*m.node].capacity.link.time_for(m.checkpoint) : duration{};
  return m.phase == assignment_phase::training && !m.stays && here < m.nodes && here < static_cast<std::size_t>(fit) &&
         m.remaining > (restart_ + transfer * 2) * (4LL << std::min(m.failed_teams, 20U));
}

/// One at a time: the ends of nodes are others when it has arrived.
void assignments::move_one(std::vector<cluster_command>& commands) {
  const bool under_way = std::ranges::any_of(models_, [](const cluster_model& m) {
    return m.phase == assignment_phase::taken_back || m.phase == assignment_phase::assigned;
  });
  const auto nodes = taking_models();
  if (under_way || nodes.size() < 2) {
    return;
  }
  if (const auto grows = std::ranges::find_if(models_, [this](const cluster_model& m) { return may_grow(m); });
      grows != models_.end()) {
    return take_back(static_cast<std::size_t>(grows - models_.begin()), commands);
  }
  const auto move = best_move(placeable(nodes), capacities(nodes));
  if (move && !models_[move->model].stays) {
    take_back(move->model, commands);
    models_[move->model].moves_to = nodes[move->to];
  }
}

void assignments::take_back(std::size_t m, std::vector<cluster_command>& commands) {
  models_[m].phase = assignment_phase::taken_back;
  commands.push_back(take_back_model{m, *models_[m].node, models_[m].epoch});
}

bool assignments::over() const noexcept {
  return std::ranges::all_of(models_, [](const cluster_model& m) { return m.phase == assignment_phase::ended; });
}

}  // namespace hydra
