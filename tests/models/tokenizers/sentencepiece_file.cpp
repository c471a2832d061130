#include "models/tokenizers/file_openers.hpp"

#include "models/tokenizers/sentencepiece_json.hpp"
#include "tests/models/tokenizers/made_sentencepiece.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace hydra;
using namespace hydra::test;

namespace sentencepiece_file_test {

using ids = std::vector<std::uint32_t>;
using kind = made_piece::kind;

const std::vector<made_piece> pieces{{"<unk>", 0, kind::unknown},
                                     {"<s>", 0, kind::control},
                                     {"</s>", 0, kind::control},
                                     {"ab", -1},
                                     {"\u2581ab", -2},
                                     {"\u2581", -3},
                                     {"a", -4},
                                     {"b", -5},
                                     {"<u>", 0, kind::user_defined}};

std::shared_ptr<const tokenizer> opened(const temporary_folder& folder, made_model type) {
  folder.write("tokenizer.model", sentencepiece_file(type, pieces));
  return open_tokenizer({.file = folder.path()});
}

TEST_CASE("a folder with a tokenizer.model has the ids and texts of SentencePiece") {
  for (const made_model type : {made_model::unigram, made_model::bpe}) {
    const temporary_folder folder;
    const auto t = opened(folder, type);
    CHECK(t->encode("ab ab b") == ids{4, 4, 5, 7});
    CHECK(t->encode("<u>axxa") == ids{5, 8, 6, 0, 6});
    CHECK(t->encode("").empty());
    CHECK(t->decode(ids{1, 4, 4, 0, 2}) == "<s>ab ab \u2047 </s>");
    CHECK(t->vocabulary() == 9);
    CHECK(t->special().end_of_text == 2u);
    CHECK(has_tokenizer(folder.path()));
  }
}

TEST_CASE("control symbols of a tokenizer.model are found in a text and written by name, others if a file names them") {
  const temporary_folder folder;
  const auto bare = opened(folder, made_model::bpe);
  CHECK(bare->encode("<s>ab</s>ab<unk>") == ids{1, 4, 2, 4, 0});
  CHECK(bare->decode(ids{1, 4, 2, 4}) == "<s>ab</s>ab");
  CHECK(bare->special().begin_of_text == 1u);
  CHECK(bare->encode("<unk>ab") == ids{5, 0, 3});  // as the text that it is
  folder.write("special_tokens_map.json", R"({"unk_token": {"content": "<unk>"}, "pad_token": "<none>"})");
  const auto t = opened(folder, made_model::bpe);
  CHECK(t->encode("<unk>ab") == ids{0, 4});
  CHECK_FALSE(t->special().padding.has_value());
}

TEST_CASE("a tokenizer.model of plain BPE becomes a tokenizer.json with the same ids; others do not") {
  const temporary_folder folder, json;
  const std::vector<made_piece> plain(pieces.begin(), pieces.end() - 1);  // without the user-defined one
  const auto file = folder.write("tokenizer.model", sentencepiece_file(made_model::bpe, plain));
  json.write("tokenizer.json", sentencepiece_json(file).value());
  const auto model = open_tokenizer({.file = file}), made = open_tokenizer({.file = json.path()});
  for (const char* const text : {"", "ab ab b", " ab", "<s>ab</s> ab", "axxa", "aab  b<unk>"}) {
    INFO(text);
    CHECK(made->encode(text) == model->encode(text));
  }
  CHECK(made->decode(ids{1, 4, 4}) == "<s> ab ab");
  for (const auto& [type, with] : {std::pair{made_model::unigram, plain}, std::pair{made_model::bpe, pieces}})
    CHECK_FALSE(sentencepiece_json(folder.write("other.model", sentencepiece_file(type, with))));
}

TEST_CASE("files next to a tokenizer.model add tokens with ids beyond its own") {
  const temporary_folder folder;
  folder.write("added_tokens.json", R"({"<pad>": 9})");
  folder.write("tokenizer_config.json",
               R"({"pad_token": "<pad>", "added_tokens_decoder": {"12": {"content": "<x>", "lstrip": true}}})");
  const auto t = opened(folder, made_model::bpe);
  CHECK(t->encode("ab <x>ab<pad>") == ids{4, 12, 4, 9});
  CHECK(t->decode(ids{4, 12, 10, 4, 9}) == "ab<x>ab<pad>");  // no token has the id 10
  CHECK(t->vocabulary() == 13);
  CHECK(t->special().padding == 9u);
  folder.write("added_tokens.json", R"({"<pad>": 4})");
  CHECK_THROWS_WITH(opened(folder, made_model::bpe),
                    Catch::Contains("added_tokens.json: \"<pad>\": the id 4 belongs to"));
}

TEST_CASE("an empty table or list in the settings beside a tokenizer.model says nothing, and is not noted") {
  const temporary_folder folder;
  folder.write("tokenizer_config.json", R"({"sp_model_kwargs": {}, "others": [], "another": {"a": 1}})");
  const auto notes = opened(folder, made_model::bpe)->notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Catch::Contains("Hydra does not use another = "));
}

TEST_CASE(
    "a class of transformers that puts blanks in other places than a tokenizer.model is noted with where it does") {
  const temporary_folder folder;
  const auto notes = [&](const char* settings) {
    folder.write("tokenizer_config.json", settings);
    return opened(folder, made_model::bpe)->notes();
  };
  const auto llama = notes(R"({"tokenizer_class": "LlamaTokenizer", "legacy": false})");
  REQUIRE(llama.size() == 1);
  CHECK_THAT(llama[0], Catch::Contains("tokenizer.model: Hydra follows it; transformers' LlamaTokenizer has") &&
                           Catch::Contains("\"prepend_scheme\":\"first\""));
  CHECK_THAT(notes(R"({"tokenizer_class": "LlamaTokenizer", "legacy": true})").at(0), Catch::Contains("\"always\""));
  const auto code = notes(R"({"tokenizer_class": "CodeLlamaTokenizer", "legacy": true})");
  REQUIRE(code.size() == 1);
  CHECK_THAT(code[0], Catch::Contains("CodeLlamaTokenizer has") && Catch::Contains("\"first\""));
  CHECK(notes(R"({"tokenizer_class": "GemmaTokenizer"})").empty());
}

TEST_CASE("the identity of a tokenizer.model covers its bytes and the files next to it") {
  const temporary_folder folder;
  const std::string bpe = opened(folder, made_model::bpe)->identity();
  CHECK(opened(folder, made_model::bpe)->identity() == bpe);
  CHECK(opened(folder, made_model::unigram)->identity() != bpe);
  folder.write("added_tokens.json", R"({"<pad>": 9})");
  CHECK(opened(folder, made_model::bpe)->identity() != bpe);
}

TEST_CASE("a file that is not a model of SentencePiece is refused with its name") {
  const temporary_folder folder;
  for (const char* content : {"", "x", "{}", "\x0a\x02\x0a\x00"}) {
    const auto file = folder.write("other.model", content);
    CHECK_THROWS_WITH(open_tokenizer({.file = file}), Catch::EndsWith("other.model: is not a model of SentencePiece"));
  }
  CHECK_THROWS_WITH(open_tokenizer({.file = folder.path() / "none.model"}), Catch::Contains("no such file"));
}

}  // namespace sentencepiece_file_test
