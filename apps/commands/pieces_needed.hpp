#pragma once
// What a model that fits no device would need if its layers were in pieces.

#include "apps/workload/workload.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace hydra::apps {

/// The workload with one key changed: "model.parallel.pieces" or "model.NAME.parallel.pieces", a number.
using changed_workload = std::function<workload(const std::string& key, const std::string& number)>;

/// A table of the smallest memory of a device for the workload with all models in 1, 2, 3, 4, 6 and 8 pieces, or else
/// with the one at this place, as far as it can be divided, and with which it fits. Plans each, which measures it.
/// Empty if it cannot be divided, or its cuts are given.
std::string pieces_needed(const workload& w, std::size_t model, const changed_workload& changed);

}  // namespace hydra::apps
