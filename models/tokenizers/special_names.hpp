#pragma once
// The tokens with a special meaning.

#include "models/tokenizers/tokenizer.hpp"
#include "models/tokenizers/tokenizer_settings.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace hydra {

using token_search = std::function<std::optional<std::uint32_t>(std::string_view)>;

/// Tokens named by the settings, else those of usual names that are tokens, unless tokenizer_config.json says null.
special_tokens find_special(const tokenizer_settings& settings, const token_search& id_of);

/// What is around a text where no tokenizer.json says it: add_bos_token and add_eos_token of tokenizer_config.json.
void add_named_frame(const tokenizer_settings& settings, special_tokens& special);

}  // namespace hydra
