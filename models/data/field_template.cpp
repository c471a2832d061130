#include "models/data/field_template.hpp"

#include "models/data/json_line.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {
namespace {

using nlohmann::json;

/// Null where the record does not have the field, or has null.
const json* given_field(const json& record, const std::string& name) {
  const auto found = record.find(name);
  return found == record.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse_absent(const json& record, const std::string& name, const line_site& site) {
  const std::string what = record.contains(name)
                               ? fmt::format("\"{}\" is null", shown(name))
                               : fmt::format("there is no \"{}\"{}", shown(name), other_fields(record, name));
  site.refuse(
      fmt::format("{}; in prompt, answer and text a field that may be missing or null is {{{}?}}", what, shown(name)));
}

}  // namespace

field_template::field_template(std::string_view text) : plain_(text.find_first_of("{}") == text.npos) {
  if (plain_) {
    add_field(text);
    return;
  }
  while (!text.empty()) text.remove_prefix(text.find_first_of("{}") == 0 ? add_brace(text) : add_text(text));
  if (fields().empty()) refuse("no field is in the braces: a field is {NAME}; a name alone needs no braces");
}

std::size_t field_template::add_text(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("{}"), text.size());
  parts_.push_back({.text = std::string{text.substr(0, end)}});
  return end;
}

std::size_t field_template::add_brace(std::string_view text) {
  if (text.starts_with("{{") || text.starts_with("}}")) {
    parts_.push_back({.text = std::string{text.substr(0, 1)}});
    return 2;
  }
  const std::size_t end = text.find_first_of("{}", 1);
  if (text[0] == '}' || end == text.npos || text[end] == '{')
    refuse(fmt::format("a brace without its other one: \"{}\"; a field is {{NAME}}, a brace alone is {{{{ or }}}}",
                       shown(text)));
  add_field(text.substr(1, end - 1));
  return end + 1;
}

void field_template::add_field(std::string_view name) {
  const bool optional = !plain_ && name.ends_with('?');
  if (optional) name.remove_suffix(1);
  if (name.empty()) refuse("braces without the name of a field; a field is {NAME}");
  parts_.push_back({std::string{name}, true, optional});
}

std::string field_template::of(const json& record, const line_site& site) const {
  std::string all;
  for (const part& p : parts_)
    if (!p.field)
      all += p.text;
    else if (plain_ || given_field(record, p.text))
      all += text_field(record, p.text, site);
    else if (!p.optional)
      refuse_absent(record, p.text, site);
  return all;
}

bool field_template::filled_by(const json& record) const {
  return std::ranges::all_of(parts_, [&](const part& p) {
    const json* const given = given_field(record, p.text);
    return !p.field || p.optional || (given && *given != "");
  });
}

std::vector<std::string> field_template::fields() const {
  std::vector<std::string> names;
  for (const part& p : parts_)
    if (p.field) names.push_back(p.text);
  return names;
}

}  // namespace hydra
