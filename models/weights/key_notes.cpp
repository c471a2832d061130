#include "models/weights/key_notes.hpp"

#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {

std::string shown_value(const nlohmann::json& value) {
  constexpr std::size_t most = 60;
  const std::string text = json_text(value);
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

std::vector<std::string> key_notes(const model_config& config, const std::set<std::string_view>& without_effect) {
  std::vector<std::string> notes;
  for (const std::string& name : config.unread()) {
    if (without_effect.contains(name)) continue;
    const auto found = config.content().find(name);  // not one of a nested table
    notes.push_back(fmt::format("{}: Hydra does not use {}{}", config.file(), name,
                                found == config.content().end() ? "" : " = " + shown_value(*found)));
  }
  return notes;
}

}  // namespace hydra
