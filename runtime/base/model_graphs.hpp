#pragma once
// All graphs of a model. Shared, immutable.

#include "runtime/base/work_graph.hpp"

#include <cstdint>
#include <map>
#include <memory>

namespace hydra {

struct model_graphs {
  work_graph step;
  std::map<std::uint32_t, work_graph> rounds{};  ///< of its evaluations, by the micro-batches of a round

  /// Throws fault_error{internal} for a round of another length.
  const work_graph& of(const unit& u) const;
  /// In of(). Throws fault_error{internal} if the model has no such unit.
  node_index node_of(const unit& u) const;
  static graph_turn turn_of(const unit& u) noexcept;

  /// A graph that has the block in turn_of() it, if the model has it at all. Of an evaluation that need not be the
  /// block's own round: readers and writer are the same in all.
  const work_graph& of(const block_id& id) const noexcept;
  static graph_turn turn_of(const block_id& id) noexcept;
};

using model_graphs_ptr = std::shared_ptr<const model_graphs>;

}  // namespace hydra
