#include "models/tokenizers/tokenizer_source.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <span>

namespace hydra {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;
}  // namespace

std::string tokenizer_source::bytes(const fs::path& file) {
  std::string content = read_text(file, text_kind::vocabulary);
  const std::string header = fmt::format("{}\n", content.size());
  hash_.add(std::as_bytes(std::span{header}));
  hash_.add(std::as_bytes(std::span{content}));
  return content;
}

std::string tokenizer_source::text(const fs::path& file) {
  std::string content = bytes(file);
  if (const std::string why = utf8_complaint(content); !why.empty()) refuse(file, why);
  return content;
}

namespace {

json parse(const fs::path& file, std::string_view content) try {
  return parse_json_strictly(content);
} catch (const fault_error& e) {
  refuse(file, e.what_happened().text);
} catch (const json::parse_error& e) {
  refuse(file, fmt::format("is not JSON from byte {} on", e.byte));
} catch (const json::exception& e) {
  refuse(file, fmt::format("is not JSON: {}", json_complaint(e)));
}

}  // namespace

model_config tokenizer_source::object(const fs::path& file) {
  json parsed = parse(file, text(file));
  if (!parsed.is_object()) refuse(file, "holds no JSON object");
  return {file.string(), std::move(parsed)};
}

std::optional<model_config> tokenizer_source::object_if_there(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return object(file);
}

void refuse_file(std::string_view file, std::string_view place, std::string_view why) {
  refuse(fmt::format("{}: {}: {}", file, place, why));
}

std::string in_quotes(std::string_view token) {
  return fmt::format("\"{}\"", shown(token));
}

}  // namespace hydra
