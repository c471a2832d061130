#include "apps/workload/grid_name.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

bool names(std::string_view text, const grid_choice& c) {
  return text == c.key || text == c.path || text == std::string_view{c.path}.substr(c.path.rfind('.') + 1);
}

std::string replacement(const value& name, std::string_view key, const std::vector<grid_choice>& choices) {
  const auto found = std::ranges::find_if(choices, [key](const grid_choice& c) { return names(key, c); });
  if (found != choices.end()) return name_part(found->is);
  std::vector<std::string> known;
  for (const grid_choice& c : choices) known.push_back(c.key);
  refuse(name.where, "model.name", fmt::format("{{{}}} names no key that is varied{}", key, known_instead(key, known)));
}

std::string appended(std::string name, const std::vector<grid_choice>& choices) {
  for (const grid_choice& c : choices) name += "-" + name_part(c.is);
  return name;
}

}  // namespace

std::string name_part(const value& v) {
  if (const auto* text = v.as<std::string>()) return *text;
  const auto* list = v.as<value_list>();
  if (!list) return v.written;
  std::vector<std::string> parts;
  for (const value& each : *list) parts.push_back(name_part(each));
  return fmt::format("{}", fmt::join(parts, "-"));
}

std::string grid_name(const value& name, const std::vector<grid_choice>& choices) {
  const auto& pattern = std::get<std::string>(name.content);
  if (pattern.find_first_of("{}") == std::string::npos) return appended(pattern, choices);
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = std::min(pattern.find('{', at), pattern.size());
    result += pattern.substr(at, open - at);
    if (open == pattern.size()) break;
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) refuse(name.where, "model.name", "\"{\" without \"}\"");
    result += replacement(name, std::string_view{pattern}.substr(open + 1, close - open - 1), choices);
    at = close + 1;
  }
  return result;
}

}  // namespace hydra::apps
