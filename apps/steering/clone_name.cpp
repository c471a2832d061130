#include "apps/steering/clone_name.hpp"

#include "runtime/base/digits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

/// "gpt-a" of "gpt-a.2"; empty if it has no number.
std::string before_number(const std::string& name) {
  const auto dot = name.rfind('.');
  const bool numbered = dot != std::string::npos && is_digits(std::string_view{name}.substr(dot + 1));
  return numbered ? name.substr(0, dot) : "";
}

}  // namespace

std::string clone_name(const std::string& source, bool is_clone, const std::vector<std::string>& names) {
  const auto is_model = [&](const std::string& name) { return std::ranges::count(names, name) > 0; };
  const std::string first = before_number(source);
  const std::string& stem = is_clone && is_model(first) ? first : source;
  for (int n = 2;; ++n)
    if (std::string name = fmt::format("{}.{}", stem, n); !is_model(name)) return name;
}

}  // namespace hydra::apps
