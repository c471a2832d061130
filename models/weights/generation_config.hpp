#pragma once
// generation_config.json: which tokens end a text after the training, for generate, exports and the notes of a plan.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

inline constexpr const char* generation_config = "generation_config.json";

/// That file in the folder; empty if it is not there, or the folder is empty.
std::filesystem::path generation_file(const std::filesystem::path& folder);

/// Which folder's generation_config.json holds for an adapter's texts: its own where it has one, else the base's. An
/// empty path of the adapter: there is none.
const std::filesystem::path& generation_folder(const std::filesystem::path& adapter, const std::filesystem::path& base);

/// Ids that are not integers; what was trained is exported all the same.
enum class wrong_ends { refused, left_out };

/// "eos_token_id" of generation_config.json in the folder; without such a file that of the text of a config.json, as in
/// transformers. Throws fault_error{bad_input} for a file that is not JSON object, and for wrong ids that are refused.
std::vector<std::int64_t> stored_ends(const std::string& config, const std::filesystem::path& folder, wrong_ends wrong);

/// On the wrong ids of the folder's generation_config.json, before a training. Throws fault_error{bad_input} for a file
/// that is not a JSON object.
std::optional<std::string> note_on_ends(const std::filesystem::path& folder);

}  // namespace hydra
