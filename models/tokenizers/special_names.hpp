#pragma once
// The tokens with a special meaning.

#include "models/tokenizers/tokenizer.hpp"
#include "models/weights/model_config.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace hydra {

/// Optional files next to a tokenizer's own.
struct tokenizer_settings {
  std::optional<model_config> config{};       ///< tokenizer_config.json
  std::optional<model_config> special_map{};  ///< special_tokens_map.json
};

using token_search = std::function<std::optional<std::uint32_t>(std::string_view)>;

/// Tokens named by the settings; a name that is not a token is ignored.
special_tokens find_named(const tokenizer_settings& settings, const token_search& id_of);

/// Those, else those of usual names that are tokens, unless tokenizer_config.json says null.
special_tokens find_special(const tokenizer_settings& settings, const token_search& id_of);

}  // namespace hydra
