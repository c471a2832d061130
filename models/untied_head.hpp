#pragma once
// A language model whose head repeats the token embedding's weight (tied), and the same with a head of its own.

#include "models/chain.hpp"

#include <optional>

namespace hydra {

/// The head's weight if it repeats the embedding's and checkpoints of the model can have both; its tied_to names the
/// embedding's.
std::optional<parameter_spec> tied_head(const chain& model);

/// The chain whose head begins with the embedding's values, and has its own from then on; config.json of an export says
/// so. The chain has a tied_head() and weights to begin with.
chain with_own_head(chain model);

}  // namespace hydra
