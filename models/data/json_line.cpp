#include "models/data/json_line.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <vector>

namespace hydra {

using nlohmann::json;

std::string line_site::text() const {
  return fmt::format("{}{}{}", file.string(), of_array ? ": record " : ":", number);
}

void line_site::refuse(const std::string& what) const { hydra::refuse(fmt::format("{}: {}", text(), what)); }

namespace {

std::size_t length_of_non_finite(std::string_view text) {
  constexpr std::array<std::string_view, 3> written{"NaN", "Infinity", "-Infinity"};
  for (const std::string_view name : written)
    if (text.starts_with(name)) return name.size();
  return 0;
}

/// With null for NaN and the like outside of texts; none if there is nothing of the kind.
std::optional<std::string> without_non_finite(std::string_view line) {
  std::string made;
  bool quoted = false, found = false;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t length = quoted ? 0 : length_of_non_finite(line.substr(i));
    const std::size_t taken = length > 0 ? length : quoted && line[i] == '\\' ? 2 : 1;
    if (line[i] == '"') quoted = !quoted;
    made += length > 0 ? "null" : line.substr(i, taken);
    found = found || length > 0;
    i += taken;
  }
  return found ? std::optional{made} : std::nullopt;
}

parsed_object parse_leniently(std::string_view line) try {
  return {parse_json(line)};
} catch (const json::parse_error&) {
  const auto changed = without_non_finite(line);
  if (!changed) throw;
  return {parse_json(*changed), true};
}

}  // namespace

parsed_object parse_object(std::string_view line, const line_site& site) {
  const std::string of = site.of_array ? " of the record" : " of the line";
  if (line.size() > most_of_a_record)
    site.refuse(fmt::format("has {} bytes, a record has at most {}", line.size(), most_of_a_record));
  if (const std::string why = utf8_complaint(line, of); !why.empty()) site.refuse(why);
  parsed_object parsed;
  try {
    parsed = parse_leniently(line);
  } catch (const fault_error& e) {
    site.refuse(e.what_happened().text);
  } catch (const json::parse_error& e) {
    site.refuse(fmt::format("no JSON (byte {}{}): {}", e.byte, of, json_complaint(e)));
  } catch (const json::exception& e) {
    site.refuse(fmt::format("no JSON: {}", json_complaint(e)));
  }
  if (!parsed.object.is_object())
    site.refuse(fmt::format("an object is expected, this is of type {}", parsed.object.type_name()));
  return parsed;
}

std::string other_fields(const json& object, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [key, value] : object.items()) known.push_back(key);
  return known_instead(name, known);
}

std::string quoted_fields(const json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(fmt::format("\"{}\"", shown(name)));
  return fmt::format("{}", fmt::join(names, ", "));
}

const json& field(const json& object, const std::string& name, const line_site& site) {
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  site.refuse(fmt::format("there is no \"{}\"{}", shown(name), other_fields(object, name)));
}

std::string text_field(const json& object, const std::string& name, const line_site& site) {
  const json& value = field(object, name, site);
  if (!value.is_string()) site.refuse(fmt::format("\"{}\" is not text but of type {}", shown(name), value.type_name()));
  return value.get<std::string>();
}

}  // namespace hydra
