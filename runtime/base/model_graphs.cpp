#include "runtime/base/model_graphs.hpp"

#include "runtime/base/fault.hpp"

#include <string>

namespace hydra {

const work_graph& model_graphs::of(const unit& u) const {
  if (u.way != direction::evaluate) {
    return step;
  }
  const auto found = rounds.find(u.micro_batches);
  if (found == rounds.end()) {
    throw fault_error(fault_code::internal, to_string(u) + " has " + std::to_string(u.micro_batches) +
                                                " micro-batches, as no round of its model");
  }
  return found->second;
}

node_index model_graphs::node_of(const unit& u) const {
  const auto node = of(u).find(u);
  if (!node) {
    throw fault_error(fault_code::internal, to_string(u) + " is not in the graph of its model");
  }
  return *node;
}

graph_turn model_graphs::turn_of(const unit& u) noexcept {
  return {.model = u.model,
          .step = u.step,
          .first = u.way == direction::evaluate ? u.first_micro_batch : micro_batch_index{}};
}

const work_graph& model_graphs::of(const block_id& id) const noexcept {
  return id.pass == pass_kind::evaluation && !rounds.empty() ? rounds.begin()->second : step;
}

graph_turn model_graphs::turn_of(const block_id& id) noexcept {
  return {.model = id.model,
          .step = id.step,
          .first = id.pass == pass_kind::evaluation ? id.micro_batch : micro_batch_index{}};
}

}  // namespace hydra
