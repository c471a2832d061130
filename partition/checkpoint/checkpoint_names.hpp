#pragma once
// Names of the files and tensors of a checkpoint. CHECKPOINTS.md describes the format.

#include "models/optimizer/parameter_form.hpp"
#include "models/optimizer/update_rule.hpp"
#include "models/weights/safetensors.hpp"
#include "partition/execute/model_update.hpp"
#include "runtime/base/block_id.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra::checkpoint_names {

inline constexpr int format_version = 1;
inline constexpr const char* state = "state.json";
inline constexpr const char* history = "history.safetensors";
inline constexpr const char* boundaries = "boundaries.safetensors";

/// The format's name for a C++ type.
template <class T>
inline constexpr stored_type type_of = stored_type::u8;
template <>
inline constexpr stored_type type_of<float> = stored_type::f32;
template <>
inline constexpr stored_type type_of<std::uint16_t> = stored_type::bf16;  ///< its bits
template <>
inline constexpr stored_type type_of<std::uint8_t> = stored_type::u8;
template <>
inline constexpr stored_type type_of<double> = stored_type::f64;
template <>
inline constexpr stored_type type_of<std::int64_t> = stored_type::i64;

/// "shard-0003.safetensors".
std::string shard_file(std::size_t shard);
/// The prefix of a parameter's name in each moment buffer, if it has values there: as torch.optim calls its state.
std::vector<std::string> moments(update_kind kind, const parameter_form& form);
/// The prefix of the largest values of its blocks, if it is in blocks.
std::string largest_of(const std::string& moment);
/// "gradient.NAME" of replica 0, "replica-1.gradient.NAME" of the next.
std::string gradient(std::size_t replica, const std::string& parameter);
/// "activation.2.0": kind, shard, micro-batch.
std::string boundary(const block_id& id);
/// The inverse, of a training step; none for other names.
std::optional<block_id> boundary_id(const std::string& name);
/// "norms.3".
std::string norms(std::size_t shard);

const char* phase(update_phase p);
std::optional<update_phase> phase(const std::string& name);

}  // namespace hydra::checkpoint_names
