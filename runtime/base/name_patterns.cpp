#include "runtime/base/name_patterns.hpp"

#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace hydra {
namespace {

bool is_exception(const std::string& pattern) { return pattern.starts_with('!'); }

bool has_form(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str() + (is_exception(pattern) ? 1 : 0), name.c_str(), 0) == 0;
}

std::string known_name(const std::string& pattern, std::span<const std::string> names) {
  if (names.empty()) return "there is none";
  const std::string near = near_name(pattern, names);
  return near.empty() ? fmt::format("its first one is \"{}\"", names.front())
                      : fmt::format("did you mean \"{}\"?", near);
}

}  // namespace

bool name_patterns::matches(const std::string& name) const {
  const auto last =
      std::find_if(patterns_.rbegin(), patterns_.rend(), [&name](const std::string& p) { return has_form(name, p); });
  return last != patterns_.rend() && !is_exception(*last);
}

void name_patterns::check(const std::string& key, const std::string& of, std::span<const std::string> names) const {
  for (const std::string& pattern : patterns_) {
    if (std::ranges::any_of(names, [&pattern](const std::string& name) { return has_form(name, pattern); })) continue;
    refuse(fmt::format("\"{}\" has \"{}\", which no {} matches; {}", key, pattern, of, known_name(pattern, names)));
  }
}

}  // namespace hydra
