#pragma once
// What the graphs of a planned model are made from.

#include "partition/graph/model_outline.hpp"
#include "partition/plan/plan.hpp"

namespace hydra {

model_outline outline_of(const model_plan& plan, model_id model);

}  // namespace hydra
