#pragma once
// The units of an evaluation.

#include "partition/graph/model_outline.hpp"
#include "runtime/base/work_graph.hpp"

#include <cstdint>

namespace hydra {

/// A round: a visit of every shard with so many micro-batches of the evaluation. Its step is the number of steps before
/// it, the version that it reads. All visits are in one lane, also those of shards side by side. All rounds but the
/// last have the same graph, however many there are. A loss has two numbers for each micro-batch. Throws as
/// train_graph() does.
work_graph evaluation_graph(const model_outline& model, std::uint32_t micro_batches);

}  // namespace hydra
