#include "runtime/base/name_patterns.hpp"

#include "runtime/base/digits.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace hydra {
namespace {

bool is_exception(const std::string& pattern) { return pattern.starts_with('!'); }

bool has_form(const std::string& name, const std::string& pattern) {
  return fnmatch(pattern.c_str() + (is_exception(pattern) ? 1 : 0), name.c_str(), 0) == 0;
}

/// "h.11.ln_1.bias" -> "h.*.ln_1.bias".
std::string for_all_layers(std::string_view name) {
  std::string form;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::string_view part = name.substr(begin, name.find('.', begin) - begin);
    form += (begin == 0 ? "" : ".") + std::string{is_digits(part) ? "*" : part};
    begin += part.size() + 1;
  }
  return form;
}

/// One for all layers that have it.
std::string nearest_known(const std::string& pattern, std::span<const std::string> names) {
  constexpr std::size_t most = 5;
  std::vector<std::string> forms;
  for (const std::string& name : names)
    if (std::string form = for_all_layers(name); std::ranges::find(forms, form) == forms.end())
      forms.push_back(std::move(form));
  return fmt::format("the nearest are \"{}\"", fmt::join(nearest_names(pattern, forms, most), "\", \""));
}

std::string known_name(const std::string& pattern, std::span<const std::string> names) {
  if (names.empty()) return "there is none";
  const std::string near = near_name(pattern, names);
  return near.empty() ? nearest_known(pattern, names) : fmt::format("did you mean \"{}\"?", shown(near));
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
    refuse(fmt::format("\"{}\" has \"{}\", which no {} matches; {}", shown(key), shown(pattern), of,
                       known_name(pattern, names)));
  }
}

}  // namespace hydra
