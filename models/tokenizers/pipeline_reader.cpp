#include "models/tokenizers/pipeline_reader.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;
using step_kind = pre_tokenizer_step::kind;

std::string type_of(const model_config& part) { return part.text("type", ""); }

[[noreturn]] void refuse_type(const model_config& part, std::string_view supported) {
  part.refuse("type", fmt::format("\"{}\" is not supported; {} is{}", type_of(part), supported, ids_instead));
}

/// The members of a Sequence, else the part itself; empty if it is absent.
std::vector<model_config> members(const model_config& file, std::string_view key, std::string_view list) {
  const auto part = file.table(key);
  if (!part) return {};
  if (type_of(*part) != "Sequence") return {*part};
  std::vector<model_config> all;
  const auto found = part->content().find(list);
  if (found == part->content().end() || !found->is_array()) part->refuse(list, "is no list");
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (!(*found)[i].is_object()) part->refuse(fmt::format("{}[{}]", list, i), "is no table");
    all.emplace_back(file.file(), (*found)[i], fmt::format("{}.{}[{}].", key, list, i));
  }
  return all;
}

bert_normalizer_options bert_options(const model_config& part) {
  bert_normalizer_options o;
  o.clean_text = part.boolean("clean_text", true);
  o.handle_chinese_chars = part.boolean("handle_chinese_chars", true);
  o.lowercase = part.boolean("lowercase", true);
  o.strip_accents = part.boolean("strip_accents", o.lowercase);
  return o;
}

/// The pattern of a part; a pattern that PCRE2 cannot compile is refused with the key.
split_pattern compiled(const model_config& part, std::string_view key, const std::string& pattern) try {
  return split_pattern{pattern};
} catch (const fault_error& e) {
  part.refuse(key, e.what_happened().text);
}

split_pattern pattern_of(const model_config& part) {
  const auto pattern = part.table("pattern");
  if (!pattern) part.refuse("pattern", "is missing");
  if (pattern->has("Regex")) return compiled(part, "pattern.Regex", pattern->text("Regex", ""));
  if (!pattern->has("String")) part.refuse("pattern", "has neither Regex nor String");
  return split_pattern::literal(pattern->text("String", ""));
}

pre_tokenizer_step split_step(const model_config& part) {
  const std::string behavior = part.text("behavior", "");
  const bool invert = part.boolean("invert", false);
  if (behavior == "Isolated") return {step_kind::isolate, pattern_of(part)};
  if (behavior == "Removed") return {invert ? step_kind::remove_between : step_kind::remove_found, pattern_of(part)};
  part.refuse("behavior", fmt::format("\"{}\" is not supported; Isolated and Removed are{}", behavior, ids_instead));
}

pre_tokenizer_step digits_step(const model_config& part) {
  return {step_kind::isolate, split_pattern{part.boolean("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)"}};
}

void add_byte_level(const model_config& part, std::vector<pre_tokenizer_step>& steps) {
  if (part.boolean("add_prefix_space", true)) steps.push_back({step_kind::prefix_space});
  if (part.boolean("use_regex", true)) steps.push_back({step_kind::isolate, split_pattern{split_pattern::gpt2()}});
}

}  // namespace

normalizers read_normalizers(const model_config& file) {
  normalizers all;
  for (const model_config& part : members(file, "normalizer", "normalizers")) {
    const std::string type = type_of(part);
    if (type == "NFC")
      all.push_back(std::make_shared<nfc_normalizer>());
    else if (type == "BertNormalizer")
      all.push_back(std::make_shared<bert_normalizer>(bert_options(part)));
    else
      refuse_type(part, "NFC, BertNormalizer, a Sequence of them, or none");
  }
  return all;
}

pre_tokenizer read_byte_level_words(const model_config& file) {
  constexpr std::string_view supported = "ByteLevel, or a Sequence of Split and Digits that ends in ByteLevel,";
  std::vector<pre_tokenizer_step> steps;
  const auto parts = members(file, "pre_tokenizer", "pretokenizers");
  if (parts.empty())
    file.refuse("pre_tokenizer", fmt::format("is missing: of BPE models, Hydra reads the byte-level ones, which end in "
                                             "ByteLevel here{}",
                                             ids_instead));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const std::string type = type_of(parts[i]);
    if (last && type == "ByteLevel")
      add_byte_level(parts[i], steps);
    else if (!last && type == "Split")
      steps.push_back(split_step(parts[i]));
    else if (!last && type == "Digits")
      steps.push_back(digits_step(parts[i]));
    else
      refuse_type(parts[i], supported);
  }
  return pre_tokenizer{std::move(steps)};
}

void require_byte_level_decoder(const model_config& file) {
  for (const model_config& part : members(file, "decoder", "decoders"))
    if (type_of(part) != "ByteLevel") refuse_type(part, "of a byte-level BPE, ByteLevel");
}

void require_bert_words(const model_config& file) {
  const auto parts = members(file, "pre_tokenizer", "pretokenizers");
  if (parts.size() != 1) file.refuse("pre_tokenizer", "of a WordPiece model, BertPreTokenizer is supported");
  if (type_of(parts[0]) != "BertPreTokenizer") refuse_type(parts[0], "of a WordPiece model, BertPreTokenizer");
}

void read_wordpiece_decoder(const model_config& file, wordpiece_rules& rules) {
  const auto part = file.table("decoder");
  if (!part) return;
  if (type_of(*part) != "WordPiece") refuse_type(*part, "of a WordPiece model, WordPiece");
  rules.decoder_prefix = part->text("prefix", "##");
  rules.cleanup = part->boolean("cleanup", true);
}

}  // namespace hydra
