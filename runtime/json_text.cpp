#include "runtime/json_text.hpp"

#include <nlohmann/json.hpp>

namespace hydra {

namespace {

template <class Json>
std::string text_of(const Json& value, int spaces) {
  return value.dump(spaces, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_text(const nlohmann::json& value, int spaces) { return text_of(value, spaces); }
std::string json_text(const nlohmann::ordered_json& value, int spaces) { return text_of(value, spaces); }

nlohmann::json parse_json(std::string_view text) { return nlohmann::json::parse(text); }
nlohmann::ordered_json parse_ordered_json(std::string_view text) { return nlohmann::ordered_json::parse(text); }

}  // namespace hydra
