#pragma once
// Profiles as JSON: every distinct layer once; and bytes and times of plans. Used only by plan_file.cpp.

#include "partition/profile/profile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace hydra {

nlohmann::ordered_json profile_to_json(const chain_profile& profile);

/// Throws nlohmann's exceptions, or fault_error{bad_input}, if it is not a profile.
chain_profile profile_from_json(const nlohmann::json& j);

/// An integer of at least 0. Throws fault_error{bad_input}.
byte_count bytes_from_json(const nlohmann::json& j);
/// Seconds, below 1e6. Nanoseconds are exact: a double can represent them up to three months. Throws
/// fault_error{bad_input}.
duration time_from_json(const nlohmann::json& j);

}  // namespace hydra
