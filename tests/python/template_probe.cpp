// Renders chat templates for compare_templates.py:
//
//   template_probe TEMPLATE < VARIABLES
//
// VARIABLES are lines, each a JSON object of what the template is given. For each it prints {"text": ..., "generated":
// [[begin, end], ...]}, places in bytes, or {"refused": WHY}.

#include "models/jinja/program.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <string>

namespace {

using namespace hydra;
using nlohmann::ordered_json;

jinja::value value_of(const ordered_json& j) {
  if (j.is_string()) return j.get<std::string>();
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_null()) return jinja::none_type{};
  jinja::value_list items;
  jinja::value_map entries;
  for (const auto& [key, each] : j.items())
    if (j.is_array())
      items.push_back(value_of(each));
    else
      entries.emplace_back(key, value_of(each));
  return j.is_array() ? jinja::value::of_list(std::move(items)) : jinja::value::of_map(std::move(entries));
}

ordered_json rendered(const jinja::program& by, const std::string& line) try {
  const jinja::value given = value_of(parse_ordered_json(line));
  const jinja::rendering r = by.render(*given.entries());
  ordered_json places = ordered_json::array();
  for (const jinja::text_range& g : r.generated) places.push_back({g.begin, g.end});
  return {{"text", r.text}, {"generated", places}};
} catch (const fault_error& e) {
  return {{"refused", e.what_happened().text}};
}

}  // namespace

int main(int, char** arguments) try {
  const std::string file = arguments[1];
  const jinja::program by{file, read_text(file, text_kind::settings)};
  for (std::string line; std::getline(std::cin, line);) std::cout << json_text(rendered(by, line)) << "\n";
} catch (const hydra::fault_error& e) {
  fmt::print(stderr, "{}\n", e.what_happened().text);
  return 2;
}
