#include "models/tokenizers/pipeline_parts.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra {

namespace {

/// A pattern that PCRE2 cannot compile is refused with the key.
split_pattern compiled(const model_config& part, std::string_view key, const std::string& pattern) try {
  return split_pattern{pattern};
} catch (const fault_error& e) {
  part.refuse(key, e.what_happened().text);
}

}  // namespace

std::string type_of(const model_config& part) { return part.text("type", ""); }

void refuse_type(const model_config& part, std::string_view supported) {
  part.refuse("type", fmt::format("\"{}\" is not supported; {} is{}", shown(type_of(part)), supported, ids_instead));
}

std::vector<model_config> members(const model_config& file, std::string_view key, std::string_view list) {
  const auto part = file.table(key);
  if (!part) return {};
  if (type_of(*part) != "Sequence") return {*part};
  if (!part->has(list)) part->refuse(list, "is not a list");
  return part->tables(list);
}

std::variant<std::string, split_pattern> pattern_of(const model_config& part) {
  const auto pattern = part.table("pattern");
  if (!pattern) part.refuse("pattern", "is missing");
  if (pattern->has("Regex")) return compiled(part, "pattern.Regex", pattern->text("Regex", ""));
  std::string literal = pattern->text("String", "");
  if (!pattern->has("String")) part.refuse("pattern", "has neither Regex nor String");
  if (literal.empty()) part.refuse("pattern.String", "is empty");
  return literal;
}

}  // namespace hydra
