#include "apps/commands/text_ends.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <variant>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* ends_key = "eos_token_id";

std::optional<model_config> file_with_ends(const std::string& config, const fs::path& folder) {
  if (const fs::path file = generation_file(folder); !file.empty()) return model_config::read(file);
  if (config.empty()) return std::nullopt;
  return model_config{(folder / "config.json").string(), parse_json(config)};
}

}  // namespace

fs::path generation_file(const fs::path& folder) {
  if (folder.empty()) return {};
  fs::path file = folder / generation_config;
  return kind_of(file) == fs::file_type::regular ? file : fs::path{};
}

const fs::path& generation_folder(const fs::path& adapter, const fs::path& base) {
  return generation_file(adapter).empty() ? base : adapter;
}

std::vector<std::int64_t> stored_ends(const std::string& config, const fs::path& folder, wrong_ends wrong) {
  const auto file = file_with_ends(config, folder);
  if (!file || !file->has(ends_key)) return {};
  const nlohmann::json& ends = file->content().at(ends_key);
  if (wrong == wrong_ends::refused && ends.is_array()) return file->integers(ends_key);
  if (wrong == wrong_ends::refused) return {file->integer(ends_key)};
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
