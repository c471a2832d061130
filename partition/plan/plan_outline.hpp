#pragma once
// The graphs of a plan, and what they are made from.

#include "partition/graph/model_outline.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/model_graphs.hpp"

namespace hydra {

model_outline outline_of(const model_plan& plan);
/// Of a step, of the rounds of an evaluation, and of its last one if that is shorter.
model_graphs_ptr graphs_of(const model_plan& plan);

}  // namespace hydra
