#pragma once
// The whole values of a chain whose layers were divided.

#include "models/weights/hub_export.hpp"

namespace hydra {

/// For the parameters of chain::join(): put together of `values` of the slices; the same for all others. What is
/// put together is valid until the next call.
stored_values joined_values(const chain& divided, stored_values values);

}  // namespace hydra
