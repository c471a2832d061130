#include "models/tokenizers/part_readers.hpp"

#include "models/tokenizers/base64.hpp"
#include "models/tokenizers/piece_normalizers.hpp"
#include "models/tokenizers/pipeline_parts.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace hydra {

namespace {

using normalizer_ptr = std::shared_ptr<const text_normalizer>;
using reader = normalizer_ptr (*)(const model_config& part);

normalizer_ptr read_bert(const model_config& part) {
  bert_normalizer_options o;
  o.clean_text = part.boolean("clean_text", true);
  o.handle_chinese_chars = part.boolean("handle_chinese_chars", true);
  o.lowercase = part.boolean("lowercase", true);
  o.strip_accents = part.boolean("strip_accents", o.lowercase);
  return std::make_shared<bert_normalizer>(o);
}

normalizer_ptr read_precompiled(const model_config& part) {
  constexpr std::string_view key = "precompiled_charsmap";
  const auto table = from_base64(part.text(key, ""));
  if (!table) part.refuse(key, "is not base64");
  try {
    return std::make_shared<precompiled_normalizer>(*table);
  } catch (const fault_error& e) {
    part.refuse(key, e.what_happened().text);
  }
}

normalizer_ptr read_strip(const model_config& part) {
  return std::make_shared<strip_normalizer>(part.boolean("strip_left", true), part.boolean("strip_right", true));
}

normalizer_ptr read_prepend(const model_config& part) {
  return std::make_shared<prepend_normalizer>(part.text("prepend", ""));
}

normalizer_ptr read_replace(const model_config& part) {
  return std::make_shared<replace_normalizer>(read_replacement(part));
}

template <normal_form Form>
normalizer_ptr read_form(const model_config&) {
  return std::make_shared<form_normalizer>(Form);
}

template <class Normalizer>
normalizer_ptr read_plain(const model_config&) {
  return std::make_shared<Normalizer>();
}

const std::map<std::string_view, reader>& readers() {
  static const std::map<std::string_view, reader> all{
      {"NFC", &read_form<normal_form::nfc>},
      {"NFD", &read_form<normal_form::nfd>},
      {"NFKC", &read_form<normal_form::nfkc>},
      {"NFKD", &read_form<normal_form::nfkd>},
      {"BertNormalizer", &read_bert},
      {"Lowercase", &read_plain<lowercase_normalizer>},
      {"Precompiled", &read_precompiled},
      {"Prepend", &read_prepend},
      {"Replace", &read_replace},
      {"Strip", &read_strip},
      {"StripAccents", &read_plain<accent_stripper>},
  };
  return all;
}

bool is_one_character(std::string_view text) { return !text.empty() && first_code_point(text).length == text.size(); }

bool keeps_start(const model_config& part, std::string_view blank) {
  const std::string type = type_of(part);
  if (type == "Strip") return !part.boolean("strip_left", true);
  if (type != "Replace") return type != "BertNormalizer" && type != "StripAccents";
  const std::string content = part.text("content", "");
  const auto pattern = pattern_of(part);
  const auto* const literal = std::get_if<std::string>(&pattern);
  const bool one_by_another = literal && is_one_character(*literal) && !content.empty();
  return one_by_another || content.starts_with(' ') || content.starts_with(blank);
}

}  // namespace

normalizers read_normalizers(const model_config& file) {
  normalizers all;
  for (const model_config& part : members(file, "normalizer", "normalizers")) {
    const auto found = readers().find(type_of(part));
    if (found == readers().end())
      refuse_type(part,
                  "of normalizers, NFC, NFD, NFKC, NFKD, BertNormalizer, Lowercase, Precompiled, Prepend, Replace, "
                  "Strip, StripAccents, a Sequence of them, or none");
    all.push_back(found->second(part));
  }
  return all;
}

void require_start_kept(const model_config& file, std::string_view blank) {
  for (const model_config& part : members(file, "normalizer", "normalizers"))
    if (!keeps_start(part, blank))
      refuse_type(part, "before a Metaspace whose prepend_scheme is \"first\", a normalizer that keeps a text's start");
}

text_replacement read_replacement(const model_config& part) {
  auto what = pattern_of(part);
  if (const auto* const pattern = std::get_if<split_pattern>(&what); pattern && pattern->matches_empty())
    part.refuse("pattern.Regex", fmt::format("it matches an empty text, which is not supported{}", ids_instead));
  return {std::move(what), part.text("content", "")};
}

}  // namespace hydra
