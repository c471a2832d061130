#pragma once
// Profiles as JSON: every distinct layer once. For plan_file.cpp alone.

#include "partition/profile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace hydra {

nlohmann::ordered_json profile_to_json(const chain_profile& profile);

/// Throws nlohmann's exceptions, or fault_error{bad_input}, for what is no profile.
chain_profile profile_from_json(const nlohmann::json& j);

}  // namespace hydra
