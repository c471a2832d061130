#pragma once
// The values of a model into whose weights its adapter is merged.

#include "models/weights/hub_export.hpp"

namespace hydra {

/// For the parameters of without_adapter(model): W + scale * B A for an adapted weight W [out, in] (its transpose for
/// [in, out]), of DoRA with rows of its magnitudes, computed in fp32; `values` of the adapted chain for all others.
/// What is computed is valid until the next call.
stored_values merged_values(const chain& model, stored_values values);

}  // namespace hydra
