#pragma once
// Workload -> session.

#include "actors/session/session.hpp"
#include "apps/workload/workload.hpp"
#include "models/data_source.hpp"

#include <map>
#include <memory>
#include <string>

namespace hydra::apps {

/// Adds devices, policy and models. Opens the data (models with the same data and context share a source) and builds
/// every chain once, so that incompatible settings are refused with the line they were written in. Returns the source
/// of each model by its name.
std::map<std::string, std::shared_ptr<const data_source>> assemble(session& into, const workload& from);

}  // namespace hydra::apps
