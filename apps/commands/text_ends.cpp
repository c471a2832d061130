#include "apps/commands/text_ends.hpp"

#include "models/weights/model_config.hpp"
#include "runtime/base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <variant>

namespace hydra::apps {

namespace {

/// A number, several, or none.
std::vector<std::int64_t> ends_in(const model_config& config) {
  constexpr const char* key = "eos_token_id";
  if (!config.has(key)) return {};
  if (config.content().at(key).is_array()) return config.integers(key);
  return {config.integer(key)};
}

}  // namespace

std::vector<std::int64_t> stored_ends(const std::string& config, const std::filesystem::path& checkpoint) {
  const std::filesystem::path file = checkpoint / "generation_config.json";
  if (!checkpoint.empty() && std::filesystem::is_regular_file(file)) return ends_in(model_config::read(file));
  if (config.empty()) return {};
  return ends_in({(checkpoint / "config.json").string(), parse_json(config)});
}

const template_choice* chat_format_of(const data_description& data) {
  const auto* const chat = std::get_if<chat_files>(&data.what);
  return chat ? &chat->format : nullptr;
}

}  // namespace hydra::apps
