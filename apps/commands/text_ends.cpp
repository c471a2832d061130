#include "apps/commands/text_ends.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <variant>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* settings_of_texts = "generation_config.json";

bool has_settings(const fs::path& folder) { return !folder.empty() && fs::is_regular_file(folder / settings_of_texts); }

/// A number, several, or none.
std::vector<std::int64_t> ends_in(const model_config& config) {
  constexpr const char* key = "eos_token_id";
  if (!config.has(key)) return {};
  if (config.content().at(key).is_array()) return config.integers(key);
  return {config.integer(key)};
}

}  // namespace

const fs::path& generation_folder(const fs::path& adapter, const fs::path& base) {
  return has_settings(adapter) ? adapter : base;
}

std::vector<std::int64_t> stored_ends(const std::string& config, const fs::path& checkpoint) {
  if (has_settings(checkpoint)) return ends_in(model_config::read(checkpoint / settings_of_texts));
  if (config.empty()) return {};
  return ends_in({(checkpoint / "config.json").string(), parse_json(config)});
}

const template_choice* chat_format_of(const data_description& data) {
  const auto* const chat = std::get_if<chat_files>(&data.what);
  return chat ? &chat->format : nullptr;
}

}  // namespace hydra::apps
