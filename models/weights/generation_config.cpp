#include "models/weights/generation_config.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* ends_key = "eos_token_id";

std::optional<model_config> file_with_ends(const std::string& config, const fs::path& folder) {
  if (const fs::path file = generation_file(folder); !file.empty()) return model_config::read(file);
  if (config.empty()) return std::nullopt;
  return model_config{(folder / "config.json").string(), parse_json(config)};
}

json ends_in(const model_config& file) {
  const json& ends = file.content().at(ends_key);
  return ends.is_array() ? ends : json::array({ends});
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
  if (wrong == wrong_ends::refused && file->content().at(ends_key).is_array()) return file->integers(ends_key);
  if (wrong == wrong_ends::refused) return {file->integer(ends_key)};
  std::vector<std::int64_t> all;
  for (const json& end : ends_in(*file))
    if (end.is_number_integer()) all.push_back(end.get<std::int64_t>());
  return all;
}

std::optional<std::string> note_on_ends(const fs::path& folder) {
  const auto file = file_with_ends({}, folder);
  if (!file || !file->has(ends_key) || std::ranges::all_of(ends_in(*file), &json::is_number_integer))
    return std::nullopt;
  return fmt::format(
      "{}: eos_token_id = {}: an export leaves out what is not a token id, and hydra generate refuses it",
      file->file(), shown_json(file->content().at(ends_key)));
}

}  // namespace hydra
