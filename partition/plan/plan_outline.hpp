#pragma once
// The graphs of a planned model, and what they are made from.

#include "partition/graph/model_graphs.hpp"
#include "partition/graph/model_outline.hpp"
#include "partition/plan/plan.hpp"

namespace hydra {

model_outline outline_of(const model_plan& plan, model_id model);
/// Of a step, of the rounds of an evaluation, and of its last one if that is shorter.
model_graphs graphs_of(const model_plan& plan, model_id model);

}  // namespace hydra
