#include "apps/commands/text_ends.hpp"

#include "models/weights/model_config.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <variant>

namespace hydra::apps {

namespace {

using nlohmann::json;

void add_once(const json& id, std::vector<std::int64_t>& ends) {
  if (id.is_number_integer() && std::ranges::count(ends, id.get<std::int64_t>()) == 0)
    ends.push_back(id.get<std::int64_t>());
}

/// A number, several, or null.
void add_ends(const json& config, std::vector<std::int64_t>& ends) {
  const auto found = config.find("eos_token_id");  // the end if `config` is not an object
  if (found == config.end()) return;
  if (!found->is_array()) return add_once(*found, ends);
  for (const json& each : *found) add_once(each, ends);
}

}  // namespace

std::vector<std::int64_t> stored_ends(const std::string& config, const std::filesystem::path& checkpoint) {
  std::vector<std::int64_t> ends;
  if (!config.empty()) add_ends(json::parse(config, nullptr, false), ends);
  const std::filesystem::path more = checkpoint / "generation_config.json";
  if (!checkpoint.empty() && std::filesystem::is_regular_file(more)) add_ends(model_config::read(more).content(), ends);
  return ends;
}

const template_choice* chat_format_of(const data_description& data) {
  const auto* const chat = std::get_if<chat_files>(&data.what);
  return chat ? &chat->format : nullptr;
}

}  // namespace hydra::apps
