#pragma once
// The loss that an exported model has inside.

#include "models/loss.hpp"

#include <memory>

namespace hydra {

/// The output is the loss of a micro-batch: the sum over its targets, or their mean, which then counts as often as
/// there are targets. A step's loss is the mean over its targets: of micro-batches with equally many the mean of
/// theirs.
std::shared_ptr<const loss> module_loss(bool is_mean);

}  // namespace hydra
