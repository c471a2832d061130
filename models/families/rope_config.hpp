#pragma once
// Rotary positions in a config.json, as transformers 5 and earlier versions write them.

#include "models/layers/rope_scaling.hpp"
#include "models/weights/model_config.hpp"

namespace hydra {

struct rope_choice {
  double theta = 10000;
  rope_scaling scaling{};
};

/// From rope_parameters, or from rope_theta and rope_scaling. Throws fault_error{bad_input} with the key for a kind of
/// scaling that Hydra does not know.
rope_choice rope_from(const model_config& config);

/// From such a table, with `theta` if it has none. `longest`: max_position_embeddings.
rope_choice rope_in(const model_config& table, double theta, std::int64_t longest);

/// Throws fault_error{bad_input} if such a table has another base than this key of config.json, where both have one:
/// transformers 5 computes with that of the table, earlier versions with the other.
void require_same_base(const model_config& config, const char* key, const model_config& table);

/// Throws fault_error{bad_input} if rope_parameters and rope_scaling, its name before transformers 5, scale
/// otherwise or have another base.
void require_same_rope(const model_config& config, const rope_choice& now, const rope_choice& before);

/// Adds both forms, so that every version of transformers reads them.
void write_rope(nlohmann::json& config, const rope_choice& rope);

}  // namespace hydra
