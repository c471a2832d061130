#include "actors/cluster/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hydra {

namespace {

duration at_speed(duration d, double speed) { return from_seconds(seconds(d) / speed); }

/// The remaining times of the models on each node.
std::vector<std::vector<duration>> loads_of(std::span<const placeable_model> models, std::size_t nodes) {
  std::vector<std::vector<duration>> loads(nodes);
  for (const auto& m : models) {
    if (m.on) {
      loads[*m.on].push_back(m.remaining);
    }
  }
  return loads;
}

/// Of the node's models and one more.
duration end_with(const node_capacity& node, std::vector<duration> load, duration more) {
  load.push_back(more);
  return expected_end(node, load);
}

duration transfer_of(const placeable_model& m, const node_capacity& from, const node_capacity& to) {
  if (!m.begun) {
    return {};
  }
  return std::max(from.link.time_for(m.checkpoint), to.link.time_for(m.checkpoint)) +
         std::max(from.restart, to.restart);
}

std::vector<duration> without(std::vector<duration> load, duration one) {
  load.erase(std::ranges::find(load, one));
  return load;
}

}  // namespace

duration expected_end(const node_capacity& node, std::span<const duration> remaining) {
  if (remaining.empty()) {
    return {};
  }
  const auto all = std::accumulate(remaining.begin(), remaining.end(), duration{});
  return std::max(at_speed(std::ranges::max(remaining), node.speed),
                  at_speed(all, node.speed * static_cast<double>(node.devices)));
}

std::vector<std::optional<std::size_t>> place(std::span<const placeable_model> models,
                                              std::span<const node_capacity> nodes) {
  auto loads = loads_of(models, nodes.size());
  std::vector<std::optional<std::size_t>> places(models.size());
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < models.size(); ++m) {
    places[m] = models[m].on;
    if (!models[m].on) {
      order.push_back(m);
    }
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t m) { return models[m].remaining; });
  for (const auto m : order) {
    std::optional<std::size_t> best;
    duration earliest{};
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (models[m].too_large_for.contains(n)) {
        continue;
      }
      const auto end = end_with(nodes[n], loads[n], models[m].remaining);
      if (!best || end < earliest || (end == earliest && loads[n].size() < loads[*best].size())) {
        best = n;
        earliest = end;
      }
    }
    places[m] = best;
    if (best) {
      loads[*best].push_back(models[m].remaining);
    }
  }
  return places;
}

std::optional<model_move> best_move(std::span<const placeable_model> models, std::span<const node_capacity> nodes) {
  const auto loads = loads_of(models, nodes.size());
  std::vector<duration> ends;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    ends.push_back(expected_end(nodes[n], loads[n]));
  }
  const auto last = static_cast<std::size_t>(std::ranges::max_element(ends) - ends.begin());
  std::optional<model_move> best;
  duration most{};
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (models[m].on != last || !models[m].moves) {
      continue;
    }
    const auto left_behind = expected_end(nodes[last], without(loads[last], models[m].remaining));
    for (std::size_t to = 0; to < nodes.size(); ++to) {
      if (to == last || models[m].too_large_for.contains(to)) {
        continue;
      }
      const auto transfer = transfer_of(models[m], nodes[last], nodes[to]);
      const auto there = std::max(end_with(nodes[to], loads[to], models[m].remaining),
                                  transfer + at_speed(models[m].remaining, nodes[to].speed));
      const auto gain = ends[last] - std::max(left_behind, there);
      if (gain > most && gain > ends[last] / 50 + transfer / 4) {
        most = gain;
        best = model_move{m, to};
      }
    }
  }
  return best;
}

}  // namespace hydra
