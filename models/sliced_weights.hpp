#pragma once
// The weights of a chain for its layers in pieces.

#include "models/weight_source.hpp"

#include <memory>

namespace hydra {

/// A slice has its values of the whole parameter; `whole` is not null.
std::shared_ptr<const weight_source> sliced_weights(std::shared_ptr<const weight_source> whole);

}  // namespace hydra
