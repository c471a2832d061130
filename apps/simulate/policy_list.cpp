#include "apps/simulate/policy_list.hpp"

#include "actors/policy/catalog.hpp"
#include "runtime/fault.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace hydra::apps {

namespace {

constexpr std::array by_chance_or_search{"random", "rollout", "exact"};
constexpr std::string_view from_a_file = "replay";

template <class Without>
std::vector<std::string> built_in(Without without) {
  std::vector<std::string> names;
  for (const policy_entry& p : built_in_policies())
    if (p.name != from_a_file && !without(p.name)) names.push_back(p.name);
  return names;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::string> default_policies() {
  return built_in([](const std::string& name) { return std::ranges::count(by_chance_or_search, name) > 0; });
}

std::vector<std::string> parse_policies(const std::string& text) {
  if (text.empty()) return default_policies();
  if (text == "all") return built_in([](const std::string&) { return false; });
  std::vector<std::string> names;
  for (const std::string& name : split(text)) {
    if (name.empty()) throw fault_error{fault_code::bad_input, "--policies: names between commas are expected: a,b,c"};
    make_policy(name, 0);
    if (std::ranges::count(names, name) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace hydra::apps
