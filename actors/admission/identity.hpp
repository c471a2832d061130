#pragma once
// Everything that decides a model's results: a checkpoint is resumed only by a model with the same identity.

#include "actors/admission/prepared_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// "batch_size: 8\nseed: 7\n...": one key and value per line. Cuts, devices, names and settings that only affect
/// reports are not part of it.
std::string identity_of(const model_description& m, const prepared_model& p, std::uint64_t seed);

/// What decides the values of each layer's frozen parameters: two layers for which it is equal have the same. Empty for
/// layers that have none.
std::vector<std::string> base_contents(const chain& model, std::uint64_t seed);

/// The lines of it that say what the data hold, whatever their files are called.
std::string data_lines_of(const data_source& source);

/// Whether it has each of these lines.
bool has_lines(const std::string& identity, const std::string& lines);

/// The same with another number of steps.
std::string with_steps(std::string identity, std::uint32_t steps);

/// The same with only the names of the files that data are read from: other machines may have them in other folders.
std::string with_bare_names(std::string identity);

/// Why a model cannot continue.
inline constexpr const char* other_data =
    "its data are not those that it was trained on: the files, the tokenizer, or what decides how they are read";

/// Whether a message with what difference_of() says is about the data.
bool is_about_data(const std::string& message);

/// The first line in which they differ, "batch_size: 8 (saved), batch_size: 16 (now)"; empty if they agree, but for
/// folders. Of chains only what differs.
std::string difference_of(const std::string& saved, const std::string& now);

/// How the layers of a chain differ from those that were saved, likewise; precision, samples and loss may be others.
std::string difference_of_layers(const std::string& saved, chain now);

}  // namespace hydra
