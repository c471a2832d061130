#pragma once
// The cross entropy of a head in pieces: loss::of_pieces().

#include "models/loss.hpp"

#include <memory>

namespace hydra {

std::shared_ptr<const loss> cross_entropy_of_pieces();

}  // namespace hydra
