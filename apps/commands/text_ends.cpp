#include "apps/commands/text_ends.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <variant>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* settings_of_texts = "generation_config.json";

bool has_settings(const fs::path& folder) { return !folder.empty() && fs::is_regular_file(folder / settings_of_texts); }

constexpr const char* ends_key = "eos_token_id";

std::optional<model_config> file_with_ends(const std::string& config, const fs::path& folder) {
  if (has_settings(folder)) return model_config::read(folder / settings_of_texts);
  if (config.empty()) return std::nullopt;
  return model_config{(folder / "config.json").string(), parse_json(config)};
}

}  // namespace

const fs::path& generation_folder(const fs::path& adapter, const fs::path& base) {
  return has_settings(adapter) ? adapter : base;
}

std::vector<std::int64_t> stored_ends(const std::string& config, const fs::path& folder) {
  const auto file = file_with_ends(config, folder);
  if (!file || !file->has(ends_key)) return {};
  if (file->content().at(ends_key).is_array()) return file->integers(ends_key);
  return {file->integer(ends_key)};
}

std::vector<std::int64_t> readable_ends(const std::string& config, const fs::path& folder) {
  const auto file = file_with_ends(config, folder);
  if (!file || !file->has(ends_key)) return {};
  const nlohmann::json& ends = file->content().at(ends_key);
  std::vector<std::int64_t> all;
  for (const nlohmann::json& end : ends.is_array() ? ends : nlohmann::json::array({ends}))
    if (end.is_number_integer()) all.push_back(end.get<std::int64_t>());
  return all;
}

const template_choice* chat_format_of(const data_description& data) {
  const auto* const chat = std::get_if<chat_files>(&data.what);
  return chat ? &chat->format : nullptr;
}

}  // namespace hydra::apps
