#pragma once
// The order of a step, said once more: product code goes by follows() and the places of lanes.

#include "runtime/base/step_graph.hpp"

#include <vector>

namespace hydra::test {

/// Of a node, in ascending order; at most two.
inline std::vector<step_graph::node> predecessors(const step_graph& graph, step_graph::node n) {
  const auto place = n % graph.lane_length();
  const auto wave = n / graph.lane_length() % graph.shape().waves;
  std::vector<step_graph::node> found;
  if (graph.way_at(place) == direction::backward && wave > 0) found.push_back(n - graph.lane_length());
  if (place > 0) found.push_back(n - 1);
  return found;
}

}  // namespace hydra::test
