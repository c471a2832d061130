#include "models/tokenizers/settings_notes.hpp"

#include "models/tokenizers/pipeline_parts.hpp"
#include "models/tokenizers/tokenizer_class.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace hydra {

namespace {

/// Keys of tokenizer_config.json without an effect on token ids.
const std::set<std::string_view>& without_effect() {
  static const std::set<std::string_view> all{
      // where it comes from, and which program reads it; what follows from its class: tokenizer_class.hpp
      "_commit_hash", "backend", "device_map", "from_slow", "init_inputs", "is_local", "local_files_only",
      "merges_file", "name_or_path", "processor_class", "special_tokens_map_file", "tokenizer_class", "tokenizer_file",
      "transformers_version", "use_fast", "verbose", "vocab_file",
      // padding, cutting, and what is returned: samples are Hydra's
      "max_len", "max_length", "model_input_names", "model_max_length", "pad_to_multiple_of", "pad_token_type_id",
      "padding_side", "return_token_type_ids", "stride", "truncation_side", "truncation_strategy",
      // conversations, which `template` of the data writes
      "chat_control_tokens", "chat_template", "response_schema", "response_template", "use_default_system_prompt",
      // texts of ids
      "clean_up_tokenization_spaces", "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output",
      "errors", "spaces_between_special_tokens",
      // of tokenizers in Python only
      "do_basic_tokenize", "never_split"};
  return all;
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

/// What a tokenizer.json does, to be compared with a setting.
class json_comparison {
 public:
  json_comparison(const tokenizer_settings& settings, std::vector<std::string>& notes)
      : settings_(settings), notes_(notes) {}

  /// `does`: as the file does it.
  void add(std::string_view key, bool does, std::string_view what) {
    if (settings_.flag(key, does) == does) return;
    notes_.push_back(fmt::format("{}: Hydra does not use {} = {}: tokenizer.json decides, and its {}",
                                 settings_.config->file(), key, !does, what));
  }

 private:
  const tokenizer_settings& settings_;
  std::vector<std::string>& notes_;
};

void compare_frame(const special_tokens& special, json_comparison& with) {
  const bool begins = !special.before.empty(), ends = !special.after.empty();
  with.add("add_bos_token", begins,
           begins ? "post_processor begins a text with a token" : "post_processor begins none");
  with.add("add_eos_token", ends, ends ? "post_processor ends a text with a token" : "post_processor ends none");
}

/// Of the first part of this type.
std::optional<model_config> part_of(const std::vector<model_config>& parts, std::string_view type) {
  const auto found = std::ranges::find(parts, type, type_of);
  return found == parts.end() ? std::nullopt : std::optional{*found};
}

void compare_bert(const std::vector<model_config>& changes, json_comparison& with) {
  const auto bert = part_of(changes, "BertNormalizer");
  const bool lower = bert ? bert->boolean("lowercase", true) : part_of(changes, "Lowercase").has_value();
  with.add("do_lower_case", lower, lower ? "normalizer makes letters small" : "normalizer keeps capital letters");
  if (!bert) return;
  const bool strips = bert->boolean("strip_accents", lower), cuts = bert->boolean("handle_chinese_chars", true);
  with.add("strip_accents", strips, strips ? "normalizer strips accents" : "normalizer keeps accents");
  with.add("tokenize_chinese_chars", cuts, cuts ? "normalizer cuts at them" : "normalizer does not");
}

void compare_blanks(const std::vector<model_config>& changes, const std::vector<model_config>& words,
                    json_comparison& with) {
  const auto bytes = part_of(words, "ByteLevel"), blanks = part_of(words, "Metaspace");
  const bool prefix = part_of(changes, "Prepend") || (blanks && blanks->text("prepend_scheme", "always") != "never") ||
                      (bytes && bytes->boolean("add_prefix_space", true));
  with.add("add_prefix_space", prefix, prefix ? "parts put a blank before a text" : "parts put no blank before a text");
}

/// Of a class that makes these parts itself class_notes() say what settings change.
void compare_parts(const tokenizer_settings& settings, const model_config& file, json_comparison& with) {
  settings.config->ignore({"add_prefix_space", "do_lower_case", "legacy", "strip_accents", "tokenize_chinese_chars"});
  if (makes_parts(settings, file)) return;
  const auto changes = members(file, "normalizer", "normalizers");
  compare_bert(changes, with);
  compare_blanks(changes, members(file, "pre_tokenizer", "pretokenizers"), with);
}

/// Tokens that tokenizer_config.json and special_tokens_map.json name differently.
void note_other_names(const model_config& config, const model_config& map, bool map_decides,
                      std::vector<std::string>& notes) {
  for (const auto& [key, in_map] : map.content().items()) {
    const nlohmann::json in_config = config.content().value(key, nlohmann::json{});
    const nlohmann::json& unused = map_decides ? in_config : in_map;
    if (unused.is_null() || unused.is_array() || content_of(in_config) == content_of(in_map)) continue;
    notes.push_back(fmt::format("{}: Hydra does not use {} = {}: {}", (map_decides ? config : map).file(), key,
                                shown_json(unused),
                                map_decides ? "special_tokens_map.json decides"
                                            : "tokenizer_config.json decides where it has added_tokens_decoder"));
  }
}

}  // namespace

void add_notes(const tokenizer_settings& settings, std::vector<std::string>& notes) {
  const auto& [config, map, added, model] = settings;
  if (config) append(notes, key_notes(*config, without_effect()));
  if (map && settings.uses_map()) append(notes, key_notes(*map));
  if (config && map) note_other_names(*config, *map, settings.uses_map(), notes);
}

std::vector<std::string> notes_beside_json(const tokenizer_settings& settings, const model_config& file,
                                           const special_tokens& special) {
  std::vector<std::string> notes;
  if (settings.config) {
    json_comparison with{settings, notes};
    compare_frame(special, with);
    compare_parts(settings, file, with);
  }
  append(notes, class_notes(settings, file, special));
  add_notes(settings, notes);
  file.ignore({"version", "truncation", "padding"});
  append(notes, key_notes(file));
  return notes;
}

}  // namespace hydra
