#include "partition/graph/evaluation_graph.hpp"

#include "partition/graph/graph_builder.hpp"

#include <utility>

namespace hydra {

work_graph evaluation_graph(const model_outline& model, std::uint32_t micro_batches) {
  graph_builder builder(model, pass_kind::evaluation);
  for (std::uint32_t s = 0; s < model.shape.shards; ++s) {
    work_unit u;
    u.what.way = direction::evaluate;
    u.what.shard = shard_index{s};
    u.what.micro_batches = micro_batches;
    builder.read_shard(u);
    builder.read_input(u);
    if (builder.is_last(u.what.shard)) {
      builder.read_targets(u);
      builder.write_loss(u, model.loss * 2);
    } else {
      builder.write_boundary(u);
      const auto* terms = builder.group_behind(u.what.shard);
      if (terms && terms->adds_to_input()) {
        builder.write_joined(u);
      }
    }
    builder.add(std::move(u));
  }
  return std::move(builder).graph();
}

}  // namespace hydra
