#include "models/tokenizers/tokenizer_class.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace hydra {

namespace {

using json = nlohmann::json;

constexpr std::string_view follows_file = "TokenizersBackend", class_key = "tokenizer_class";
constexpr std::string_view qwen2_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Of a model whose settings name none.
std::string usual_class(const std::string& model_type) {
  static const std::map<std::string, std::string> all{
      {"bart", "RobertaTokenizer"},     {"bert", "BertTokenizer"},          {"code_llama", "CodeLlamaTokenizer"},
      {"distilbert", "BertTokenizer"},  {"gemma", "GemmaTokenizer"},        {"gemma2", "GemmaTokenizer"},
      {"gemma3", "GemmaTokenizer"},     {"gemma3_text", "GemmaTokenizer"},  {"gpt2", "GPT2Tokenizer"},
      {"gpt_neox", "GPTNeoXTokenizer"}, {"longformer", "RobertaTokenizer"}, {"qwen3", "Qwen2Tokenizer"},
      {"roberta", "RobertaTokenizer"}};
  const auto found = all.find(model_type);
  return found == all.end() ? std::string{follows_file} : found->second;
}

std::string named_class(const tokenizer_settings& settings) {
  std::string name = settings.config ? settings.config->text(class_key, "") : "";
  if (name.empty() && settings.model) name = settings.model->text(class_key, "");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  return name == "PreTrainedTokenizer" ? std::string{follows_file} : name;
}

/// Parts as the class makes them; the keys of "model" that are not its vocabulary. More than one: forms that do the
/// same.
using made_forms = std::vector<json>;

json one_form(json normalizer, json words, json model) {
  return {{"normalizer", std::move(normalizer)}, {"pre_tokenizer", std::move(words)}, {"model", std::move(model)}};
}

made_forms bert_forms(const tokenizer_settings& settings) {
  const bool lower = settings.flag("do_lower_case", true);
  return {one_form({{"type", "BertNormalizer"},
                    {"handle_chinese_chars", settings.flag("tokenize_chinese_chars", true)},
                    {"lowercase", lower},
                    {"strip_accents", settings.flag("strip_accents", lower)}},
                   {{"type", "BertPreTokenizer"}},
                   {{"continuing_subword_prefix", "##"}, {"max_input_chars_per_word", 100}})};
}

json byte_level(const tokenizer_settings& settings, bool use_regex) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", settings.flag("add_prefix_space", false)}, {"use_regex", use_regex}};
}

made_forms gpt2_forms(const tokenizer_settings& settings) {
  return {one_form(nullptr, byte_level(settings, true), {{"ignore_merges", false}})};
}

made_forms neox_forms(const tokenizer_settings& settings) {
  return {one_form({{"type", "NFC"}}, byte_level(settings, true), {{"ignore_merges", false}})};
}

made_forms qwen2_forms(const tokenizer_settings& settings) {
  const json split{{"type", "Split"}, {"pattern", {{"Regex", qwen2_words}}}, {"behavior", "Isolated"}};
  return {one_form({{"type", "NFC"}},
                   {{"type", "Sequence"}, {"pretokenizers", json::array({split, byte_level(settings, false)})}},
                   {{"ignore_merges", false}})};
}

json written_blanks() { return {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}; }

json piece_model() { return {{"byte_fallback", true}, {"fuse_unk", true}, {"ignore_merges", false}}; }

/// `always`: a blank is put before each part of a text, else before the first.
made_forms piece_forms(const tokenizer_settings& settings, bool always) {
  const bool prefix = settings.flag("add_prefix_space", true);
  const json blanks{{"type", "Metaspace"},
                    {"replacement", "\u2581"},
                    {"prepend_scheme", prefix ? always ? "always" : "first" : "never"},
                    {"split", false}};
  made_forms all{one_form(nullptr, blanks, piece_model())};
  if (!prefix) all.push_back(one_form(written_blanks(), nullptr, piece_model()));
  return all;
}

made_forms llama_forms(const tokenizer_settings& settings) {
  return piece_forms(settings, settings.flag("legacy", false));
}

made_forms code_llama_forms(const tokenizer_settings& settings) { return piece_forms(settings, false); }

/// The normalizer leaves no blank at which the words could be split.
made_forms gemma_forms(const tokenizer_settings&) {
  const json split{{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}};
  return {one_form(written_blanks(), split, piece_model()), one_form(written_blanks(), nullptr, piece_model())};
}

using maker = made_forms (*)(const tokenizer_settings& settings);

/// transformers takes a tokenizer.json of bytes as it is, where it finds the class of Llama 2.
bool has_bytes(const json& file) {
  return std::ranges::any_of(std::array{"pre_tokenizer", "decoder", "post_processor"}, [&](const char* key) {
    return file.value(key, json{}).dump().find("\"ByteLevel\"") != std::string::npos;
  });
}

maker maker_of(const std::string& name, const model_config& file) {
  static const std::map<std::string, maker> all{
      {"BertTokenizer", &bert_forms},       {"CodeLlamaTokenizer", &code_llama_forms},
      {"DistilBertTokenizer", &bert_forms}, {"GemmaTokenizer", &gemma_forms},
      {"GPT2Tokenizer", &gpt2_forms},       {"GPTNeoXTokenizer", &neox_forms},
      {"LlamaTokenizer", &llama_forms},     {"Qwen2Tokenizer", &qwen2_forms}};
  const auto found = all.find(name);
  const bool as_stored = found == all.end() || (name == "LlamaTokenizer" && has_bytes(file.content()));
  return as_stored ? nullptr : found->second;
}

/// What a part does where it does not say it.
json defaults_of(const std::string& type) {
  if (type == "ByteLevel") return {{"add_prefix_space", true}, {"use_regex", true}};
  if (type == "Metaspace") return {{"replacement", "\u2581"}, {"prepend_scheme", "always"}, {"split", true}};
  if (type == "Split") return {{"invert", false}};
  if (type == "BertNormalizer") return {{"clean_text", true}, {"handle_chinese_chars", true}, {"lowercase", true}};
  return json::object();
}

json plain(const json& part);

json plain_sequence(const json& part) {
  json all = json::array();
  for (const char* const list : {"normalizers", "pretokenizers"})
    for (const json& each : part.value(list, json::array()))
      if (json one = plain(each); !one.is_null()) all.push_back(std::move(one));
  return all.empty() ? json{} : all.size() == 1 ? all.front() : all;
}

/// In one form for parts that do the same: with defaults, without what has no effect on ids.
json plain(const json& part) {
  if (!part.is_object()) return part;
  const std::string type = part.value("type", "");
  if (type == "Sequence") return plain_sequence(part);
  json all = defaults_of(type);
  for (const auto& [key, value] : part.items())
    if (!value.is_null()) all[key] = value;
  if (type == "BertNormalizer" && !all.contains("strip_accents")) all["strip_accents"] = all["lowercase"];
  for (const char* const key : {"trim_offsets", "str_rep"}) all.erase(key);
  if (type == "Metaspace") all.erase("add_prefix_space");
  return all;
}

/// The parts of a form that the file has not, "normalizer {...}".
std::vector<std::string> differing(const json& file, const json& made) {
  std::vector<std::string> parts;
  for (const char* const key : {"normalizer", "pre_tokenizer"})
    if (plain(file.value(key, json{})) != plain(made.at(key)))
      parts.push_back(fmt::format("{} {}", key, shown_json(made.at(key))));
  for (const auto& [key, value] : made.at("model").items()) {
    const json& model = file.at("model");
    const bool says = model.contains(key) && !model.at(key).is_null();
    if ((says ? model.at(key) : value.is_boolean() ? json(false) : value) != value)
      parts.push_back(fmt::format("model.{} {}", key, shown_json(value)));
  }
  return parts;
}

/// Of the form that is nearest.
std::vector<std::string> differing(const json& file, const made_forms& all) {
  std::vector<std::vector<std::string>> each;
  for (const json& made : all) each.push_back(differing(file, made));
  return *std::ranges::min_element(each, {}, std::ranges::size);
}

bool is_only(const std::vector<std::uint32_t>& ids, std::optional<std::uint32_t> id) {
  return id ? std::ranges::equal(ids, std::array{*id}) : ids.empty();
}

}  // namespace

std::string class_of_tokenizer(const tokenizer_settings& settings) {
  const std::string model_type = settings.model ? settings.model->text("model_type", "") : "";
  const std::string named = named_class(settings);
  if (model_type == "mistral" || model_type == "phi3") return std::string{follows_file};
  if (model_type == "qwen2") return "Qwen2Tokenizer";
  return named.empty() ? usual_class(model_type) : named;
}

bool makes_parts(const tokenizer_settings& settings, const model_config& file) {
  return maker_of(class_of_tokenizer(settings), file) != nullptr;
}

std::vector<std::string> class_notes(const tokenizer_settings& settings, const model_config& file,
                                     const special_tokens& special) {
  const std::string name = class_of_tokenizer(settings);
  const maker make = maker_of(name, file);
  if (!make) return {};
  std::vector<std::string> parts = differing(file.content(), make(settings));
  if (make == &bert_forms && !(is_only(special.before, special.classify) && is_only(special.after, special.separate)))
    parts.push_back("post_processor [CLS] TEXT [SEP]");
  if (parts.empty()) return {};
  const bool always = settings.model && settings.model->text("model_type", "") == "qwen2";
  return {fmt::format(
      "{}: Hydra follows it; transformers' {} has, instead of what it says, {}, and gives some texts other ids{}",
      file.file(), name, fmt::join(parts, ", "),
      always ? ""
             : "; with tokenizer_class = \"PreTrainedTokenizerFast\" in tokenizer_config.json "
               "transformers follows it, too")};
}

std::vector<std::string> class_notes_on_pieces(const tokenizer_settings& settings, std::string_view file) {
  const std::string name = class_of_tokenizer(settings);
  if (name != "CodeLlamaTokenizer" && name != "LlamaTokenizer") return {};
  if (settings.config) settings.config->ignore({"legacy"});
  const made_forms all = name == "LlamaTokenizer" ? llama_forms(settings) : code_llama_forms(settings);
  return {fmt::format(
      "{}: Hydra follows it; transformers' {} has, instead of what it says, pre_tokenizer {}, and gives some "
      "texts other ids; the tokenizer.json that its save_pretrained() writes has the same ids in both",
      file, name, shown_json(all.front().at("pre_tokenizer")))};
}

void require_class(const tokenizer_settings& settings, std::string_view vocabulary,
                   std::span<const std::string_view> known) {
  const std::string name = class_of_tokenizer(settings);
  if (name == follows_file || std::ranges::find(known, name) != known.end()) return;
  refuse_file(vocabulary, class_key,
              fmt::format("transformers opens it with {}, whose words Hydra does not make from this file; let "
                          "transformers save a tokenizer.json: from transformers import AutoTokenizer; "
                          "AutoTokenizer.from_pretrained(\"FOLDER\").save_pretrained(\"FOLDER\"). A class in Python "
                          "alone, as those of Japanese, saves none: write the token ids that it gives the texts, for "
                          "data of kind = \"tokens\" (docs/checkpoints.md shows how they are stored)",
                          in_quotes(name)));
}

}  // namespace hydra
