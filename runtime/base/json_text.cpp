#include "runtime/base/json_text.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_depth.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

namespace {

template <class Json>
std::string text_of(const Json& value, int spaces) {
  return value.dump(spaces, ' ', false, Json::error_handler_t::replace);
}

template <class Json>
Json parsed(std::string_view text) {
  return Json::parse(text, [](int depth, typename Json::parse_event_t event, Json&) {
    if (is_nested_too_deep(depth, event)) throw fault_error{fault_code::bad_input, nested_too_deep()};
    return true;
  });
}

}  // namespace

std::string json_text(const nlohmann::json& value, int spaces) { return text_of(value, spaces); }
std::string json_text(const nlohmann::ordered_json& value, int spaces) { return text_of(value, spaces); }

nlohmann::json parse_json(std::string_view text) { return parsed<nlohmann::json>(text); }
nlohmann::ordered_json parse_ordered_json(std::string_view text) { return parsed<nlohmann::ordered_json>(text); }

}  // namespace hydra
