#include "runtime/base/json_text.hpp"

#include "runtime/base/digits.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>
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
      refuse(shown_json(value) + " is given twice");
    return true;
  }

 private:
  std::vector<std::unordered_set<std::string>> open_;  ///< keys of the open objects, the innermost last
};

/// "/models/0/name" -> "models[0].name".
std::string keys_of(std::string_view pointer) {
  std::string keys;
  while (!pointer.empty()) {
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    const std::string_view key = pointer.substr(1, end - 1);
    keys += is_digits(key) ? fmt::format("[{}]", key) : fmt::format("{}{}", keys.empty() ? "" : ".", key);
    pointer.remove_prefix(end);
  }
  return keys;
}

/// The end of "(/models/0/name) "; keys may have the same characters.
std::size_t end_of_keys(std::string_view text) {
  if (!text.starts_with("(/")) return text.npos;
  for (std::size_t end = text.find(") "); end != text.npos; end = text.find(") ", end + 1))
    for (const char* const start : {"type must be ", "key '", "cannot use ", "incompatible "})
      if (text.substr(end + 2).starts_with(start)) return end;
  return text.npos;
}

/// A type by the library's name.
std::string_view noun_of(std::string_view type) {
  for (const auto& [name, noun] : {std::pair<std::string_view, std::string_view>{"string", "a text"},
                                   {"number", "a number"},
                                   {"boolean", "true or false"},
                                   {"array", "a list"},
                                   {"object", "an object"}})
    if (type == name) return noun;
  return type;
}

/// The library's text about a value of the wrong type, in other words; any other text as it is.
std::string expectation_of(std::string_view text) {
  constexpr std::string_view type = "type must be ", but = ", but is ", key = "key '", missing = "' not found";
  const auto given = [&](std::size_t at) { return noun_of(text.substr(at)); };
  if (const auto at = text.find(but); text.starts_with(type) && at != text.npos)
    return fmt::format("{} is given, expected {}", given(at + but.size()),
                       noun_of(text.substr(type.size(), at - type.size())));
  if (text.starts_with(key) && text.ends_with(missing))
    return fmt::format("\"{}\" is missing", text.substr(key.size(), text.size() - key.size() - missing.size()));
  if (text.starts_with("cannot use "))
    return fmt::format("{} is given, expected an object", given(text.rfind(' ') + 1));
  if (text.starts_with("incompatible ReferenceType"))
    return fmt::format("{} is given, expected an object or a list", given(text.rfind(' ') + 1));
  return std::string{text};
}

}  // namespace

std::string json_text(const nlohmann::json& value, int spaces) { return text_of(value, spaces); }
std::string json_text(const nlohmann::ordered_json& value, int spaces) { return text_of(value, spaces); }

nlohmann::json parse_json(std::string_view text) { return parsed<nlohmann::json>(text); }
nlohmann::json parse_json_strictly(std::string_view text) {
  key_check check;
  return nlohmann::json::parse(text, std::ref(check));
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) { return parsed<nlohmann::ordered_json>(text); }

std::string shown_json(const nlohmann::json& value) { return shown(json_text(value)); }
std::string shown_json(const nlohmann::ordered_json& value) { return shown(json_text(value)); }

std::string json_complaint(const std::exception& e) {
  std::string_view text = e.what();
  if (const auto number = text.find("] "); number != text.npos) text.remove_prefix(number + 2);
  if (const auto place = text.find(": "); text.starts_with("parse error") && place != text.npos)
    text.remove_prefix(place + 2);
  const auto end = end_of_keys(text);
  if (end == text.npos) return shown(expectation_of(text));
  return fmt::format("{}: {}", shown(keys_of(text.substr(1, end - 1))), shown(expectation_of(text.substr(end + 2))));
}

}  // namespace hydra
