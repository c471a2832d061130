#pragma once
// The whole values of a chain whose layers were divided.

#include "models/weights/hub_export.hpp"

namespace hydra {

/// For the parameters of chain::join(): put together of `values` of the slices; the same for all others. Those that are
/// put together live as long as the result.
stored_values joined_values(const chain& divided, stored_values values);

}  // namespace hydra
