#pragma once
// What the settings beside a tokenizer say that has no effect.

#include "models/tokenizers/tokenizer.hpp"
#include "models/tokenizers/tokenizer_settings.hpp"

#include <string>
#include <vector>

namespace hydra {

/// Keys that nobody asked for and that may change ids, and tokens of a special_tokens_map.json that is not used. Call
/// it when all that is known has been read.
void add_notes(const tokenizer_settings& settings, std::vector<std::string>& notes);

/// Beside a tokenizer.json, whose content decides as in the `tokenizers` package: settings that say something else than
/// it, and keys of the file itself that nobody asked for. `special` is what was read.
std::vector<std::string> notes_beside_json(const tokenizer_settings& settings, const model_config& file,
                                           const special_tokens& special);

}  // namespace hydra
