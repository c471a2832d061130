#pragma once
// A chain written as a Hugging Face checkpoint, or as the state_dict() of a module.

#include "models/chain.hpp"
#include "models/weights/safetensors.hpp"
#include "runtime/base/fwd.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace hydra {

/// The values of an owned parameter, F32 and in its shape, when they are written; the bytes must stay valid until those
/// of the next one are asked for.
using stored_values = std::function<stored_tensor(const parameter_spec&)>;

/// Maximum bytes of a file of weights, as in Hugging Face's libraries.
inline constexpr std::uint64_t hub_part_bytes = 5'000'000'000;

/// Adds config.json and preprocessor_config.json if the chain has them, and model.safetensors; or
/// model-00001-of-00002.safetensors, ... and model.safetensors.index.json if there are more bytes than `part_bytes`.
/// Tied copies are not stored, but all names that a parameter has in a state_dict() are. The values of one parameter at
/// a time are asked for and written, without a copy. Throws fault_error{bad_input} if the chain has no chain::hub()
/// form, what `values` throws, {io}.
void write_hub_files(durable_folder& into, const chain& model, const stored_values& values,
                     std::uint64_t part_bytes = hub_part_bytes);

}  // namespace hydra
