#pragma once
// JSON from foreign files: its depth limit (runtime/base/json_depth.hpp), and the text of parse errors.

#include "runtime/base/json_depth.hpp"
#include "runtime/base/utf8.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace hydra {

/// The parser's message, without its own error number and position, and without bytes that are not UTF-8.
inline std::string json_complaint(const nlohmann::json::exception& e) {
  std::string_view text = e.what();
  if (const auto number = text.find("] "); number != text.npos) text.remove_prefix(number + 2);
  if (const auto place = text.find(": "); text.starts_with("parse error") && place != text.npos)
    text.remove_prefix(place + 2);
  return std::string{text.substr(0, valid_utf8(std::as_bytes(std::span{text})))};
}

}  // namespace hydra
