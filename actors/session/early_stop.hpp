#pragma once
// Early stopping (Prechelt 1998): ends a model whose validation loss no longer improves.

#include "actors/protocol/events.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <string>

namespace hydra {

struct early_stop_options {
  std::uint32_t patience = 3;       ///< consecutive evaluations without improvement until a model stops; at least 1
  double minimum = 0;               ///< by how much the loss must fall to count as an improvement
  std::set<std::string> models{};   ///< by name; empty: all
};

/// True if none of the last `patience` evaluations is better by more than `minimum` than the best one before them.
/// A pure function of a model's history: a resumed run stops where the uninterrupted one does.
bool out_of_patience(std::span<const evaluation_record> history, const early_stop_options& options);

/// For session::on: `s.on<evaluation_completed>(early_stop({.patience = 3}))`. Throws fault_error{bad_input} for
/// impossible options.
evaluation_callback early_stop(early_stop_options options);

}  // namespace hydra
