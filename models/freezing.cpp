#include "models/freezing.hpp"

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

}  // namespace

bool freezing::matches(const std::string& name) const {
  const auto last =
      std::find_if(patterns_.rbegin(), patterns_.rend(), [&name](const std::string& p) { return has_form(name, p); });
  return last != patterns_.rend() && !is_exception(*last);
}

void freezing::check(std::span<const std::string> names) const {
  for (const std::string& pattern : patterns_) {
    if (std::ranges::any_of(names, [&pattern](const std::string& name) { return has_form(name, pattern); })) continue;
    const std::string near = near_name(pattern, names);
    refuse(fmt::format("\"freeze\" has \"{}\", which no parameter of the model matches; {}", pattern,
                       near.empty() ? fmt::format("its first one is \"{}\"", names.front())
                                    : fmt::format("did you mean \"{}\"?", near)));
  }
  if (std::ranges::none_of(names, [this](const std::string& name) { return matches(name); }))
    refuse("\"freeze\" freezes nothing: all that it names is excepted by \"!\"; begin with what is to be frozen, such as "
           "\"*\"");
}

}  // namespace hydra
