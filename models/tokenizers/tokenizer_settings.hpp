#pragma once
// The files of settings beside a tokenizer's own.

#include "models/tokenizers/tokenizer_source.hpp"
#include "models/weights/model_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Those that are there.
struct tokenizer_settings {
  std::optional<model_config> config{};       ///< tokenizer_config.json
  std::optional<model_config> special_map{};  ///< special_tokens_map.json
  std::optional<model_config> added{};        ///< added_tokens.json
  std::optional<model_config> model{};        ///< the names in config.json

  /// Whether the second one names tokens: in transformers added_tokens_decoder of the first replaces it.
  bool uses_map() const { return special_map && !(config && config->has("added_tokens_decoder")); }
  /// Of tokenizer_config.json.
  bool flag(std::string_view key, bool fallback) const { return config ? config->boolean(key, fallback) : fallback; }
  /// The file that decides which token a key such as "eos_token" names; null: none names one.
  const model_config* deciding(std::string_view key) const;
};

/// A token that settings name: a text, or a table with "content" and flags.
struct named_token {
  std::string key;
  const model_config* file = nullptr;
  const nlohmann::json* value = nullptr;
};

tokenizer_settings read_settings(tokenizer_source& source, const std::filesystem::path& folder);

/// All tokens that are named, in the order in which transformers adds those that the tokenizer does not have: bos_token
/// and the other usual ones, other keys "..._token", extra_special_tokens or else additional_special_tokens. They live
/// as long as the settings.
std::vector<named_token> named_tokens(const tokenizer_settings& settings);

/// Of a token that is named; empty if it is neither a text nor a table with one.
std::string content_of(const nlohmann::json& token);

}  // namespace hydra
