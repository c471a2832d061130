#include "models/data/json_line.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <vector>

namespace hydra {

using nlohmann::json;

void line_site::refuse(const std::string& what) const {
  throw fault_error{fault_code::bad_input, fmt::format("{}:{}: {}", file.string(), number, what)};
}

json parse_object(std::string_view line, const line_site& site) {
  if (const std::string why = utf8_complaint(line, " of the line"); !why.empty()) site.refuse(why);
  json parsed;
  try {
    parsed = parse_json(line);
  } catch (const fault_error& e) {
    site.refuse(e.what_happened().text);
  } catch (const json::parse_error& e) {
    site.refuse(fmt::format("no JSON (byte {} of the line): {}", e.byte, json_complaint(e)));
  } catch (const json::exception& e) {
    site.refuse(fmt::format("no JSON: {}", json_complaint(e)));
  }
  if (!parsed.is_object()) site.refuse(fmt::format("an object is expected, this is of type {}", parsed.type_name()));
  return parsed;
}

const json& field(const json& object, const std::string& name, const line_site& site) {
  const auto found = object.find(name);
  if (found != object.end()) return *found;
  std::vector<std::string> known;
  for (const auto& [key, value] : object.items()) known.push_back(key);
  const std::string near = near_name(name, known);
  site.refuse(
      fmt::format("there is no \"{}\"{}", name, near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
}

std::string text_field(const json& object, const std::string& name, const line_site& site) {
  const json& value = field(object, name, site);
  if (!value.is_string()) site.refuse(fmt::format("\"{}\" is no text but of type {}", name, value.type_name()));
  return value.get<std::string>();
}

}  // namespace hydra
