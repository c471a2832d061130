#pragma once
// The graphs of a shape, without a plan.

#include "partition/graph/evaluation_graph.hpp"
#include "partition/graph/train_graph.hpp"
#include "runtime/base/model_graphs.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace hydra::test {

/// Every shard has so many bytes of parameters and nothing else has any; rounds of an evaluation have one micro-batch.
inline model_graphs_ptr graphs_of_shape(const step_shape& shape, byte_count parameters = byte_count{100},
                                        std::vector<shard_group> groups = {}) {
  model_outline outline{.shape = shape};
  outline.groups = std::move(groups);
  outline.shape.abreast = most_side_by_side(outline.groups);
  for (std::uint32_t s = 0; s < shape.shards; ++s) {
    outline.shards.push_back({.parameters = parameters, .gradients = {}, .partial_sum = {}});
  }
  return std::make_shared<const model_graphs>(
      model_graphs{.step = train_graph(outline), .rounds = {{1, evaluation_graph(outline, 1)}}});
}

}  // namespace hydra::test
