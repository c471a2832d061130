#include "tests/actors/policy/random_schedule.hpp"

#include "actors/policy/speed.hpp"
#include "tests/support/shape_graphs.hpp"

#include <algorithm>
#include <utility>

namespace hydra::test {

namespace {

work_graph graph_of(const unit_times& m) { return graphs_of_shape(shape_of(m), byte_count{100}, m.groups)->step; }

}  // namespace

random_schedule::random_schedule(const std::vector<unit_times>& models, const std::vector<double>& speeds,
                                 std::uint32_t seed)
    : rng_(seed), speeds_(speeds), running_(speeds.size()) {
  for (const auto& times : models) {
    auto& m = models_.emplace_back(model{.times = times, .loaded = times.promote, .sums = {}, .step = 0, .tasks = {}});
    for (const auto loaded : m.loaded) {
      events_.emplace(loaded, std::nullopt);
    }
    begin_step(m);
  }
}

duration random_schedule::run() {
  while (!events_.empty()) {
    now_ = events_.begin()->first;
    while (!events_.empty() && events_.begin()->first == now_) {
      if (const auto device = events_.extract(events_.begin()).mapped()) {
        end(*device);
      }
    }
    while (start_some()) {
    }
  }
  return last_;
}

void random_schedule::begin_step(model& m) {
  m.tasks.clear();
  m.sums.assign(m.times.backward.size(), 0);
  if (evaluates(m)) {
    add_evaluation(m);
  }
  if (m.step < m.times.steps) {
    add_lanes(m);
  }
}

bool random_schedule::evaluates(const model& m) const { return m.times.steps - m.step < m.times.evaluations; }

/// Micro-batches are dealt to the lanes in turn; each lane visits every shard once with its own.
void random_schedule::add_evaluation(model& m) {
  const auto lanes = shape_of(m.times).lanes();
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const auto share = (m.times.evaluation_micro_batches + lanes - 1 - lane) / lanes;
    for (std::size_t s = 0; s < m.loaded.size(); ++s) {
      m.tasks.push_back({.cost = m.times.evaluate[s] * share, .reads = s});
      if (s > 0) {
        m.tasks.back().before = {m.tasks.size() - 2};
      }
    }
  }
}

void random_schedule::add_lanes(model& m) {
  const auto graph = graph_of(m.times);
  const auto evaluation = m.tasks.size();
  for (node_index n; n.value < graph.size(); n = n.next()) {
    const auto& u = graph.at(n).what;
    const auto s = u.shard.value;
    const bool forward = u.way == direction::forward;
    task t{.cost = forward ? m.times.forward[s] : m.times.backward[s]};
    for (const auto before : graph.predecessors(n)) {
      t.before.push_back(evaluation + before.value);
    }
    const bool begins = n == graph.lane(graph.lane_of(n)).front();
    for (auto visited = m.loaded.size(); begins && visited <= evaluation; visited += m.loaded.size()) {
      t.before.push_back(visited - 1);  // all lanes have evaluated
    }
    t.reads = forward || s + 1 == m.loaded.size() ? std::optional<std::size_t>(s) : std::nullopt;
    t.completes = !forward && u.wave.value + 1 == m.times.waves ? std::optional<std::size_t>(s) : std::nullopt;
    m.tasks.push_back(std::move(t));
  }
}

bool random_schedule::may_start(const model& m, const task& t) const {
  return !t.started && (!t.reads || m.loaded[*t.reads] <= now_) &&
         std::ranges::all_of(t.before, [&](std::size_t before) { return m.tasks[before].done; });
}

bool random_schedule::start_some() {
  std::vector<std::size_t> idle;
  for (std::size_t d = 0; d < running_.size(); ++d) {
    if (!running_[d]) {
      idle.push_back(d);
    }
  }
  std::vector<choice> ready;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    for (std::size_t t = 0; t < models_[m].tasks.size(); ++t) {
      if (may_start(models_[m], models_[m].tasks[t])) {
        ready.push_back({m, t});
      }
    }
  }
  if (idle.empty() || ready.empty()) {
    return false;
  }
  const auto device = idle[rng_() % idle.size()];
  const auto chosen = ready[rng_() % ready.size()];
  auto& t = models_[chosen.model].tasks[chosen.task];
  t.started = true;
  running_[device] = chosen;
  events_.emplace(now_ + time_on(speeds_[device], t.cost), device);
  return true;
}

void random_schedule::end(std::size_t device) {
  const auto ended = *std::exchange(running_[device], std::nullopt);
  auto& m = models_[ended.model];
  auto& t = m.tasks[ended.task];
  t.done = true;
  last_ = std::max(last_, now_);
  if (t.completes && ++m.sums[*t.completes] == shape_of(m.times).sums_of(static_cast<std::uint32_t>(*t.completes))) {
    const auto s = *t.completes;
    const auto version = now_ + m.times.demote[s] + m.times.update[s];
    last_ = std::max(last_, version);
    m.loaded[s] = version + m.times.promote[s];
    events_.emplace(m.loaded[s], std::nullopt);
  }
  if (m.step <= m.times.steps && std::ranges::all_of(m.tasks, &task::done)) {
    ++m.step;
    if (m.step <= m.times.steps) {
      begin_step(m);
    }
  }
}

}  // namespace hydra::test
