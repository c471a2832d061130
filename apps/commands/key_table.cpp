#include "apps/commands/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

std::string fallback_of(const key_rule& rule) { return rule.required ? "required" : rule.fallback; }

}  // namespace

std::string key_table(const std::vector<key_rule>& keys) {
  std::size_t name = 0, fallback = 0;
  for (const key_rule& rule : keys) {
    name = std::max(name, rule.name.size());
    fallback = std::max(fallback, fallback_of(rule).size());
  }
  std::string text;
  for (const key_rule& rule : keys)
    text += fmt::format("    {:<{}}  {:<{}}  {}; {}\n", rule.name, name, fallback_of(rule), fallback, rule.help,
                        describe(rule));
  return text;
}

}  // namespace hydra::apps
