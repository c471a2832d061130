#include "actors/policy/unit_reads.hpp"

namespace hydra {

unit_reads reads_of(const work_graph& graph, node_index n, const graph_turn& turn) {
  unit_reads all;
  byte_count frozen;
  const auto before = graph.before_in_lane(n);
  for (const auto& use : graph.at(n).reads) {
    const auto& block = graph.block(use.block);
    if (use.role == block_role::parameters) {
      all.parameters += block.bytes;
    } else if (use.role == block_role::base) {
      frozen = block.bytes;
      all.base = graph.name({use.block}, turn);
    } else if (before && graph.writer(use.block) == before) {
      all.boundary += block.bytes * block.parts;
    }
  }
  if (frozen <= all.parameters) {
    all.base.reset();
  }
  all.parameters += frozen;
  return all;
}

}  // namespace hydra
