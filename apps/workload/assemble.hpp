#pragma once
// Workload -> session.

#include "actors/session.hpp"
#include "apps/workload/workload.hpp"

namespace hydra::apps {

/// Adds devices, policy and models. Opens the data (models with the same data and context share a source) and builds
/// every chain once, so that whatever does not go together is refused with the line it was written in.
void assemble(session& into, const workload& from);

}  // namespace hydra::apps
