#include "models/tokenizers/tokenizer_settings.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;

constexpr std::array usual_keys{"bos_token", "eos_token", "unk_token", "sep_token",
                                "pad_token", "cls_token", "mask_token"};

void add_usual(const tokenizer_settings& settings, std::vector<named_token>& all) {
  for (const char* const key : usual_keys)
    if (const model_config* const file = settings.deciding(key)) all.push_back({key, file, &file->content().at(key)});
}

/// "image_token" and the like.
void add_others(const model_config& config, std::vector<named_token>& all) {
  for (const auto& [key, value] : config.content().items()) {
    const bool usual = std::ranges::find(usual_keys, key) != usual_keys.end();
    if (!usual && key.ends_with("_token") && !content_of(value).empty() && config.has(key))
      all.push_back({key, &config, &value});
  }
}

/// A list, or a table of names and tokens.
void add_extra(const model_config& file, std::vector<named_token>& all) {
  bool found = false;
  for (const char* const key : {"extra_special_tokens", "additional_special_tokens"}) {
    if (!file.has(key) || found) continue;
    const json& tokens = file.content().at(key);
    if (!tokens.is_structured()) file.refuse(key, "is neither a list nor a table of tokens");
    for (const json& token : tokens) all.push_back({key, &file, &token});
    found = !tokens.empty();
  }
}

/// Not of the source: what it says is not part of the tokenizer's identity. Beside a file that is named alone it may be
/// that of another program: then it says nothing.
std::optional<model_config> config_if_there(const std::filesystem::path& folder) try {
  const model_config config = model_config::read(folder / "config.json");
  json names = json::object();
  for (const char* const key : {"model_type", "tokenizer_class"})
    if (config.has(key) && config.content().at(key).is_string()) names[key] = config.content().at(key);
  return model_config{config.file(), std::move(names)};
} catch (const fault_error&) {
  return std::nullopt;
}

}  // namespace

const model_config* tokenizer_settings::deciding(std::string_view key) const {
  const bool in_map = special_map && special_map->has(key), in_config = config && config->has(key);
  if (in_map && uses_map()) return &*special_map;
  return in_config ? &*config : nullptr;
}

tokenizer_settings read_settings(tokenizer_source& source, const std::filesystem::path& folder) {
  tokenizer_settings settings{source.object_if_there(folder / "tokenizer_config.json"),
                              source.object_if_there(folder / "special_tokens_map.json"),
                              source.object_if_there(folder / "added_tokens.json"), config_if_there(folder)};
  if (settings.config) settings.config->require("split_special_tokens", false);
  return settings;
}

std::vector<named_token> named_tokens(const tokenizer_settings& settings) {
  std::vector<named_token> all;
  add_usual(settings, all);
  if (settings.config) add_others(*settings.config, all);
  if (settings.config) add_extra(*settings.config, all);
  if (settings.uses_map()) add_extra(*settings.special_map, all);
  std::erase_if(all, [](const named_token& t) { return *t.value == ""; });
  for (const named_token& t : all)
    if (content_of(*t.value).empty()) t.file->refuse(t.key, fmt::format("{} is not a token", shown_json(*t.value)));
  return all;
}

std::string content_of(const json& token) {
  const json& content = token.is_object() && token.contains("content") ? token.at("content") : token;
  return content.is_string() ? content.get<std::string>() : std::string{};
}

}  // namespace hydra
