#include "models/tokenizers/tokenizer_source.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_input.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

/// Refuses too deep nesting, and a key that an object has twice (the parser would keep the last one).
class key_check {
 public:
  explicit key_check(const fs::path& file) : file_{file} {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (is_nested_too_deep(depth, event)) refuse(file_, nested_too_deep());
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second)
      refuse(file_, fmt::format("{}: is given twice", json_text(parsed)));
    return true;
  }

 private:
  const fs::path& file_;
  std::vector<std::unordered_set<std::string>> open_;  ///< keys of the open objects, the innermost last
};

}  // namespace

std::string tokenizer_source::text(const fs::path& file) {
  std::string content = read_text(file);
  const std::size_t valid = valid_utf8(std::as_bytes(std::span{content}));
  if (valid != content.size()) refuse(file, fmt::format("is not UTF-8 from byte {} on", valid));
  const std::string header = fmt::format("{}\n", content.size());
  hash_.add(std::as_bytes(std::span{header}));
  hash_.add(std::as_bytes(std::span{content}));
  return content;
}

model_config tokenizer_source::object(const fs::path& file) try {
  const std::string content = text(file);
  key_check check{file};
  json parsed = json::parse(content, std::ref(check));
  if (!parsed.is_object()) refuse(file, "holds no JSON object");
  return {file.string(), std::move(parsed)};
} catch (const json::parse_error& e) {
  refuse(file, fmt::format("is no JSON from byte {} on", e.byte));
} catch (const json::exception& e) {
  refuse(file, fmt::format("is no JSON: {}", json_complaint(e)));
}

std::optional<model_config> tokenizer_source::object_if_there(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return object(file);
}

void refuse_file(std::string_view file, std::string_view place, std::string_view why) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: {}: {}", file, place, why)};
}

std::string in_quotes(std::string_view token) {
  return json(token).dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace hydra
