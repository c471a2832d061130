#include "apps/simulate/policy_list.hpp"

#include "actors/session/waiting_policy.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace hydra::apps {

namespace {

constexpr std::string_view by_chance = "random";
constexpr std::string_view optimum_name = "exact";

[[noreturn]] void refuse_list(const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("policies: {}", what)};
}

/// Splits at commas outside parentheses.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::pair<std::string, double> read_option(const std::string& text) {
  const auto equals = text.find('=');
  const std::string_view number = equals == std::string::npos ? "" : std::string_view{text}.substr(equals + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size())
    refuse_list(fmt::format("\"{}\" is given, expected OPTION=NUMBER", text));
  return {text.substr(0, equals), value};
}

/// "critical_units=2,critical_share=0)".
std::map<std::string, double> read_options(std::string_view text, const std::string& whole) {
  if (!text.ends_with(')')) refuse_list(fmt::format("\"{}\" lacks its closing parenthesis", whole));
  std::map<std::string, double> options;
  for (const std::string& each : split(text.substr(0, text.size() - 1)))
    if (const auto [option, is_new] = options.insert(read_option(each)); !is_new)
      refuse_list(fmt::format("\"{}\" gives the option {} twice", whole, option->first));
  return options;
}

listed_policy parse_policy(const std::string& text, policy_registry& registry) {
  const auto open = text.find('(');
  const std::string name = text.substr(0, open);
  if (name.empty()) refuse_list("names between commas are expected: a,b,c");
  if (text == optimum_name) return {text, {}};
  const known_policy known = registry.find(name);
  return listed(text, known,
                open == std::string::npos ? std::map<std::string, double>{}
                                          : read_options(std::string_view{text}.substr(open + 1), text));
}

template <class Without>
std::vector<listed_policy> all_but(const policy_registry& registry, Without without) {
  std::vector<listed_policy> all;
  for (const known_policy& p : registry.all())
    if (!p.make_actor && !without(p.entry.name)) all.push_back(listed(p.entry.name, p, {}));
  return all;
}

}  // namespace

listed_policy listed(const std::string& name, const known_policy& known, std::map<std::string, double> options) {
  const policy_entry& entry = known.entry;
  complete({0, options}, entry.options, entry.name);  // throws before anything is simulated
  if (known.make_actor)
    return {name, [known, options = std::move(options)](std::uint64_t seed) {
              return make_waiting_policy(
                  known.make_actor(complete({seed, options}, known.entry.options, known.entry.name)));
            }};
  return {name, [entry, options = std::move(options)](std::uint64_t seed) {
            return entry.make(complete({seed, options}, entry.options, entry.name));
          }};
}

std::vector<listed_policy> parse_policies(const std::string& text, policy_registry& registry) {
  if (text == "all") return all_but(registry, [](const std::string&) { return false; });
  if (text.empty())
    return all_but(registry, [](const std::string& name) { return name == by_chance; });
  std::vector<listed_policy> policies;
  for (const std::string& each : split(text)) {
    if (std::ranges::count(policies, each, &listed_policy::name) > 0)
      refuse_list(fmt::format("\"{}\" is given twice", each));
    policies.push_back(parse_policy(each, registry));
  }
  return policies;
}

std::vector<std::string> names_of(const std::vector<listed_policy>& policies) {
  std::vector<std::string> names;
  std::ranges::transform(policies, std::back_inserter(names), &listed_policy::name);
  return names;
}

}  // namespace hydra::apps
