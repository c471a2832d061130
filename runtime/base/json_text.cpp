#include "runtime/base/json_text.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

namespace hydra {

namespace {

template <class Json>
std::string text_of(const Json& value, int spaces) {
  return value.dump(spaces, ' ', false, Json::error_handler_t::replace);
}

void check_depth(int depth, nlohmann::detail::parse_event_t event) {
  using parse_event = nlohmann::detail::parse_event_t;
  if (depth >= deepest_json && (event == parse_event::object_start || event == parse_event::array_start)) {
    refuse(fmt::format("is nested more than {} deep", deepest_json));
  }
}

template <class Json>
Json parsed(std::string_view text) {
  return Json::parse(text, [](int depth, typename Json::parse_event_t event, Json&) {
    check_depth(depth, event);
    return true;
  });
}

class key_check {
 public:
  bool operator()(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using parse_event = nlohmann::json::parse_event_t;
    check_depth(depth, event);
    if (event == parse_event::object_start) open_.emplace_back();
    if (event == parse_event::object_end) open_.pop_back();
    if (event == parse_event::key && !open_.back().insert(value.get<std::string>()).second)
      refuse(json_text(value) + " is given twice");
    return true;
  }

 private:
  std::vector<std::unordered_set<std::string>> open_;  ///< keys of the open objects, the innermost last
};

}  // namespace

std::string json_text(const nlohmann::json& value, int spaces) { return text_of(value, spaces); }
std::string json_text(const nlohmann::ordered_json& value, int spaces) { return text_of(value, spaces); }

nlohmann::json parse_json(std::string_view text) { return parsed<nlohmann::json>(text); }
nlohmann::json parse_json_strictly(std::string_view text) {
  key_check check;
  return nlohmann::json::parse(text, std::ref(check));
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) { return parsed<nlohmann::ordered_json>(text); }

std::string json_complaint(const std::exception& e) {
  std::string_view text = e.what();
  if (const auto number = text.find("] "); number != text.npos) text.remove_prefix(number + 2);
  if (const auto place = text.find(": "); text.starts_with("parse error") && place != text.npos)
    text.remove_prefix(place + 2);
  return std::string{text.substr(0, valid_utf8(std::as_bytes(std::span{text})))};
}

}  // namespace hydra
