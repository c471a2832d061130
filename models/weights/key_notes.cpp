#include "models/weights/key_notes.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {

std::vector<std::string> key_notes(const model_config& config, const std::set<std::string_view>& without_effect) {
  std::vector<std::string> notes;
  for (const std::string& name : config.unread()) {
    if (without_effect.contains(name)) continue;
    const auto found = config.content().find(name);  // not one of a nested table
    if (found != config.content().end() && found->is_structured() && found->empty()) continue;
    notes.push_back(fmt::format("{}: Hydra does not use {}{}", config.file(), shown(name),
                                found == config.content().end() ? "" : " = " + shown_json(*found)));
  }
  return notes;
}

}  // namespace hydra
