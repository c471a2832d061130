// What transformers' class makes of a tokenizer, as transformers 5.23 does it.

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace tokenizer_class_test {

using nlohmann::json;
using texts = std::vector<std::string>;

/// Of a folder with a tokenizer.json.
texts notes(const json& file, const json& config, const json& settings = json::object()) {
  const temporary_folder folder;
  folder.write("tokenizer.json", file.dump());
  folder.write("tokenizer_config.json", settings.dump());
  folder.write("config.json", config.dump());
  return open_tokenizer({.file = folder.path()})->notes();
}

json of_type(const char* model_type) { return {{"model_type", model_type}}; }
json with_class(const char* name) { return {{"tokenizer_class", name}}; }

json bert(bool lower) {
  json file = wordpiece_file({"[UNK]", "[CLS]", "[SEP]", "a"});
  file["normalizer"]["lowercase"] = lower;
  file["post_processor"] = frame_of({{"[CLS]", 1}}, {{"[SEP]", 2}});
  return file;
}

json blanks_written() { return {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}; }

json pieces() {
  json file = piece_bpe_file({"<unk>", "a"}, {});
  file["model"]["byte_fallback"] = true;
  return file;
}

json pieces_behind(const char* scheme) {
  json file = pieces();
  file["normalizer"] = nullptr;
  file["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
  return file;
}

TEST_CASE("a cased BERT whose settings do not say so is noted: transformers makes its letters small") {
  CHECK(notes(bert(true), of_type("bert")).empty());
  CHECK(notes(bert(false), of_type("bert"), {{"do_lower_case", false}}).empty());
  CHECK(notes(bert(false), of_type("bert"), with_class("PreTrainedTokenizerFast")).empty());
  const texts cased = notes(bert(false), of_type("bert"));
  REQUIRE(cased.size() == 1);
  CHECK_THAT(cased[0], Contains("tokenizer.json: Hydra follows it; transformers' BertTokenizer has") &&
                           Contains("\"lowercase\":true") && Contains("tokenizer_class = \"PreTrainedTokenizerFast\""));
  CHECK(
      notes(bert(true), json::object(), {{"tokenizer_class", "BertTokenizerFast"}, {"do_lower_case", false}}).size() ==
      1);
  json bare = bert(true);
  bare.erase("post_processor");
  CHECK_THAT(notes(bare, of_type("bert")).at(0), Contains("post_processor [CLS] TEXT [SEP]"));
}

TEST_CASE("words that transformers' class for bytes would split in another way are noted") {
  json file = bpe_file({});
  CHECK(notes(file, of_type("gpt2")).empty());
  CHECK_THAT(notes(file, of_type("gpt2"), {{"add_prefix_space", true}}).at(0), Contains("\"add_prefix_space\":true"));
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, file["pre_tokenizer"]}}};
  CHECK(notes(file, of_type("llama")).empty());
  CHECK(notes(file, of_type("mistral"), with_class("GPT2Tokenizer")).empty());
  CHECK_THAT(notes(file, of_type("llama"), with_class("GPT2Tokenizer")).at(0), Contains("GPT2Tokenizer has"));
  json whole = bpe_file({});
  whole["model"]["ignore_merges"] = true;
  CHECK_THAT(notes(whole, of_type("gpt2")).at(0), Contains("model.ignore_merges false"));
  CHECK(notes(whole, of_type("llama"), with_class("LlamaTokenizerFast")).empty());
}

TEST_CASE("Qwen's words are those of its class, and a model of type qwen2 has no other class") {
  json file = bpe_file({});
  const json split{
      {"type", "Split"},
      {"behavior", "Isolated"},
      {"pattern",
       {{"Regex", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
                  R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"}}}};
  const json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}};
  CHECK_THAT(notes(file, of_type("qwen3")).at(0),
             Contains("Qwen2Tokenizer has, instead of what it says, normalizer {"));
  file["normalizer"] = {{"type", "NFC"}};
  CHECK(notes(file, of_type("qwen3")).empty());
  CHECK(notes(file, of_type("qwen2"), with_class("PreTrainedTokenizerFast")).empty());
  const texts other = notes(bpe_file({}), of_type("qwen2"), with_class("PreTrainedTokenizerFast"));
  REQUIRE(other.size() == 1);
  CHECK_THAT(other[0], Contains("Qwen2Tokenizer") && !Contains("follows it, too"));
}

TEST_CASE("Llama's class puts a blank only before a text unless legacy is true, and none before a blank") {
  const json llama = with_class("LlamaTokenizer");
  const auto legacy = [&](bool value) { return json{{"tokenizer_class", "LlamaTokenizer"}, {"legacy", value}}; };
  CHECK(notes(pieces_behind("first"), of_type("llama"), llama).empty());
  CHECK(notes(pieces_behind("always"), of_type("llama"), legacy(true)).empty());
  CHECK_THAT(notes(pieces_behind("always"), of_type("llama"), llama).at(0), Contains("\"prepend_scheme\":\"first\""));
  CHECK(notes(pieces(), of_type("llama"), legacy(true)).size() == 1);
  CHECK(notes(pieces(), of_type("mistral"), legacy(false)).empty());
  json bare = pieces();
  bare["normalizer"] = blanks_written();
  const json none{{"tokenizer_class", "LlamaTokenizer"}, {"add_prefix_space", false}};
  CHECK(notes(bare, of_type("llama"), none).empty());
  CHECK(notes(bare, of_type("gemma")).empty());
  CHECK(notes(pieces(), of_type("gemma")).size() == 1);
}

TEST_CASE("CodeLlama's class puts a blank only before a text, whatever legacy says") {
  const json settings{{"tokenizer_class", "CodeLlamaTokenizerFast"}, {"legacy", true}};
  CHECK(notes(pieces_behind("first"), of_type("llama"), settings).empty());
  const texts other = notes(pieces(), of_type("llama"), settings);
  REQUIRE(other.size() == 1);
  CHECK_THAT(other[0], Contains("CodeLlamaTokenizer has") && Contains("normalizer null") &&
                           Contains("\"prepend_scheme\":\"first\""));
}

TEST_CASE("DistilBERT's class is BERT's, and GPT-NeoX's composes letters before it makes GPT-2's words") {
  CHECK(notes(bert(true), json::object(), with_class("DistilBertTokenizer")).empty());
  CHECK_THAT(notes(bert(false), json::object(), with_class("DistilBertTokenizerFast")).at(0),
             Contains("DistilBertTokenizer has") && Contains("\"lowercase\":true"));
  CHECK(notes(bert(false), of_type("distilbert")).size() == 1);
  json file = bpe_file({});
  CHECK_THAT(notes(file, of_type("gpt_neox")).at(0), Contains("GPTNeoXTokenizer has") && Contains("\"NFC\""));
  file["normalizer"] = {{"type", "NFC"}};
  CHECK(notes(file, of_type("gpt_neox"), with_class("GPTNeoXTokenizer")).empty());
}

TEST_CASE("a config.json that is not that of a model says nothing of the tokenizer beside it") {
  const temporary_folder folder;
  folder.write("tokenizer.json", bpe_file({}).dump());
  const auto notes_beside = [&](const std::string& config) {
    folder.write("config.json", config);
    return open_tokenizer({.file = folder.path() / "tokenizer.json"})->notes().size();
  };
  CHECK(notes_beside(R"({"model_type": "qwen2"})") == 1);
  for (const char* const config : {"[]", "// mine\n{}", R"({"model_type": 3})", R"({"tokenizer_class": ["mine"]})"})
    CHECK(notes_beside(config) == 0);
  const temporary_folder other;
  other.write("tokenizer.json", bpe_file({}).dump());
  std::filesystem::create_directory(other.path() / "config.json");
  CHECK(open_tokenizer({.file = other.path() / "tokenizer.json"})->notes().empty());
}

TEST_CASE("older files are refused where transformers' class makes other words from them than Hydra") {
  const temporary_folder folder;
  folder.write("vocab.json", bpe_file({})["model"]["vocab"].dump());
  folder.write("merges.txt", "");
  const auto opened = [&](const json& settings, const json& config) {
    folder.write("tokenizer_config.json", settings.dump());
    folder.write("config.json", config.dump());
    return open_tokenizer({.file = folder.path()});
  };
  CHECK(opened(json::object(), of_type("gpt2"))->vocabulary() == 256);
  CHECK(opened(with_class("GPT2TokenizerFast"), of_type("llama"))->vocabulary() == 256);
  CHECK_THROWS_WITH(opened(with_class("Qwen2Tokenizer"), json::object()), Contains("vocab.json: tokenizer_class: ") &&
                                                                              Contains("\"Qwen2Tokenizer\"") &&
                                                                              Contains("save_pretrained("));
  CHECK_THROWS_WITH(opened(json::object(), of_type("qwen2")), Contains("\"Qwen2Tokenizer\""));
  CHECK(opened(with_class("CodeGenTokenizer"), json::object())->special().before.empty());
  const temporary_folder words;
  words.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  words.write("tokenizer_config.json", with_class("BertJapaneseTokenizer").dump());
  CHECK_THROWS_WITH(open_tokenizer({.file = words.path()}), Contains("\"BertJapaneseTokenizer\"") &&
                                                                Contains("saves none: write the token ids") &&
                                                                Contains("kind = \"tokens\""));
}

TEST_CASE(
    "a text of RobertaTokenizer's or MPNetTokenizer's older files begins with cls_token and ends with sep_token") {
  using ids = std::vector<std::uint32_t>;
  json settings{{"cls_token", "<s>"}, {"sep_token", "</s>"}, {"add_bos_token", false}};
  const auto frame = [&](const temporary_folder& folder, const char* name) {
    settings["tokenizer_class"] = name;
    folder.write("tokenizer_config.json", settings.dump());
    const auto special = open_tokenizer({.file = folder.path()})->special();
    return std::pair{special.before, special.after};
  };
  const temporary_folder bytes, words;
  json vocabulary = bpe_file({})["model"]["vocab"];
  vocabulary["<s>"] = 256;
  vocabulary["</s>"] = 257;
  bytes.write("vocab.json", vocabulary.dump());
  bytes.write("merges.txt", "");
  CHECK(frame(bytes, "RobertaTokenizer") == std::pair{ids{256}, ids{257}});
  CHECK(frame(bytes, "GPT2Tokenizer") == std::pair{ids{}, ids{}});
  words.write("vocab.txt", "<s>\n</s>\n[UNK]\na\n");
  CHECK(frame(words, "MPNetTokenizer") == std::pair{ids{0}, ids{1}});
}

TEST_CASE("RobertaTokenizer, also of a model's type, has marks of its own where no settings name them") {
  using ids = std::vector<std::uint32_t>;
  const temporary_folder folder;
  json vocabulary = bpe_file({})["model"]["vocab"];
  std::uint32_t id = 256;
  for (const char* const token : {"<s>", "</s>", "[CLS]", "[SEP]"}) vocabulary[token] = id++;
  folder.write("vocab.json", vocabulary.dump());
  folder.write("merges.txt", "");
  const auto frame = [&](const json& settings, const json& config) {
    folder.write("tokenizer_config.json", settings.dump());
    folder.write("config.json", config.dump());
    const auto special = open_tokenizer({.file = folder.path()})->special();
    return std::pair{special.before, special.after};
  };
  for (const char* const type : {"roberta", "longformer", "bart"})
    CHECK(frame(json::object(), of_type(type)) == std::pair{ids{256}, ids{257}});
  CHECK(frame(with_class("RobertaTokenizer"), json::object()) == std::pair{ids{256}, ids{257}});
  CHECK(frame({{"cls_token", "[CLS]"}}, of_type("roberta")) == std::pair{ids{258}, ids{257}});
  CHECK(frame(with_class("DebertaTokenizer"), json::object()) == std::pair{ids{258}, ids{259}});
}

}  // namespace tokenizer_class_test
