#include "models/tokenizers/part_readers.hpp"

#include "models/tokenizers/pipeline_parts.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

using step_kind = pre_tokenizer_step::kind;

void add_byte_level(const model_config& part, std::vector<pre_tokenizer_step>& steps) {
  part.ignore({"trim_offsets"});
  if (part.boolean("add_prefix_space", true)) steps.push_back({step_kind::prefix_space});
  if (part.boolean("use_regex", true)) steps.push_back({step_kind::isolate, split_pattern{split_pattern::gpt2()}});
}

}  // namespace

bool is_byte_level(const model_config& file) {
  return std::ranges::any_of(members(file, "pre_tokenizer", "pretokenizers"),
                             [](const model_config& part) { return type_of(part) == "ByteLevel"; });
}

pre_tokenizer_step read_split(const model_config& part) {
  const std::string behavior = part.text("behavior", "");
  const bool invert = part.boolean("invert", false);
  const auto what = pattern_of(part);
  const auto* const literal = std::get_if<std::string>(&what);
  const split_pattern pattern = literal ? split_pattern::literal(*literal) : std::get<split_pattern>(what);
  if (behavior == "Isolated") return {step_kind::isolate, pattern};
  if (behavior == "Removed") return {invert ? step_kind::remove_between : step_kind::remove_found, pattern};
  if (behavior == "MergedWithPrevious" && !invert) return {step_kind::cut_after, pattern};
  if (behavior == "MergedWithNext" && !invert) return {step_kind::cut_before, pattern};
  part.refuse("behavior", fmt::format("\"{}\"{} is not supported; Isolated and Removed are, MergedWithPrevious and "
                                      "MergedWithNext if they are not inverted{}",
                                      shown(behavior), invert ? ", inverted," : "", ids_instead));
}

pre_tokenizer_step read_digits(const model_config& part) {
  return {step_kind::isolate, split_pattern{part.boolean("individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)"}};
}

pre_tokenizer read_byte_level_words(const model_config& file) {
  constexpr std::string_view supported = "ByteLevel, or a Sequence of Split and Digits that ends in ByteLevel,";
  std::vector<pre_tokenizer_step> steps;
  const auto parts = members(file, "pre_tokenizer", "pretokenizers");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const std::string type = type_of(parts[i]);
    if (last && type == "ByteLevel")
      add_byte_level(parts[i], steps);
    else if (!last && type == "Split")
      steps.push_back(read_split(parts[i]));
    else if (!last && type == "Digits")
      steps.push_back(read_digits(parts[i]));
    else
      refuse_type(parts[i], supported);
  }
  return pre_tokenizer{std::move(steps)};
}

void require_byte_level_decoder(const model_config& file) {
  for (const model_config& part : members(file, "decoder", "decoders")) {
    if (type_of(part) != "ByteLevel") refuse_type(part, "of a byte-level BPE, ByteLevel");
    part.ignore({"add_prefix_space", "trim_offsets", "use_regex"});
  }
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
