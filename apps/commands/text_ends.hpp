#pragma once
// Which tokens end a text.

#include "models/data/data_catalog.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

/// "eos_token_id" of the text of a config.json, then of generation_config.json in the folder, if both are there; each id
/// once. Throws fault_error{bad_input} for a generation_config.json that is no JSON object.
std::vector<std::int64_t> stored_ends(const std::string& config, const std::filesystem::path& checkpoint);

/// The template of data of conversations; null for other data.
const template_choice* chat_format_of(const data_description& data);

}  // namespace hydra::apps
