#pragma once
// What staging a unit copies to a device, as its graph says. Standard library only.

#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/work_graph.hpp"

#include <optional>

namespace hydra {

struct unit_reads {
  byte_count parameters;           ///< of its shard, frozen ones included
  std::optional<block_id> base{};  ///< the frozen ones, if they are most of them
  byte_count boundary;             ///< what the unit before it in its lane has written for it
};

unit_reads reads_of(const work_graph& graph, node_index n, const graph_turn& turn);

}  // namespace hydra
