#include "tests/models/tokenizers/made_tokenizers.hpp"

#include "models/tokenizers/token_table.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

using namespace hydra;
using namespace hydra::test;

namespace {

/// A change that makes a file invalid, and the message after the file's name.
struct malformed {
  std::string patch;  ///< JSON merge patch
  const char* why;
};

const malformed bad_bpe[]{
    {R"({"model": null})", ": model: is missing"},
    {R"({"model": {"type": "WordLevel"}})", ": model.type: \"WordLevel\" is not supported"},
    {R"({"model": {"type": "Unigram"}})", ": model.vocab: is not a list"},
    {R"({"model": {"byte_fallback": true}})", ": model.byte_fallback: "},
    {R"({"model": {"end_of_word_suffix": "</w>"}})", ": model.end_of_word_suffix: "},
    {R"({"model": {"dropout": 0.1}})", ": model.dropout: "},
    {R"({"model": {"unk_token": "none"}})", ": model.unk_token: \"none\" is not in the vocabulary"},
    {R"({"model": {"vocab": null}})", ": model.vocab: is missing"},
    {R"({"model": {"vocab": []}})", ": model.vocab: is not a table"},
    {R"({"model": {"vocab": {"x": -1}}})", ": model.vocab: \"x\": its id is not an integer"},
    {R"({"model": {"vocab": {"x": 1.5}}})", ": model.vocab: \"x\": its id is not an integer"},
    {R"({"model": {"vocab": {"x": 4294967296}}})", ": model.vocab: \"x\": the id 4294967296 is above"},
    {R"({"model": {"vocab": {"two": 0}}})", ": model.vocab: "},
    {R"({"model": {"merges": null}})", ": model.merges: is missing"},
    {R"({"model": {"merges": {}}})", ": model.merges: is not a list"},
    {R"({"model": {"merges": ["a b", "ab"]}})", ": model.merges[1]: \"ab\" is not two tokens"},
    {R"({"model": {"merges": ["a b", 7]}})", ": model.merges[1]: is neither"},
    {R"({"model": {"merges": [["a", "b", "c"]]}})", ": model.merges[0]: is neither"},
    {R"({"model": {"merges": ["a c"]}})", ": model.merges[0]: \"ac\" is not in the vocabulary"},
    {R"({"pre_tokenizer": null})", ": decoder.type: \"ByteLevel\" is not supported"},
    {R"({"pre_tokenizer": {"type": "Punctuation"}})", ": pre_tokenizer.type: \"Punctuation\" is not supported"},
    {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Punctuation"}]}})",
     ": pre_tokenizer.pretokenizers[0].type: \"ByteLevel\""},
    {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(a"}}, {"type": "ByteLevel"}]}})",
     ": pre_tokenizer.pretokenizers[0].pattern.Regex: the pattern \"(a\""},
    {R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "behavior": "Contiguous", "pattern": {"Regex": "a"}}, {"type": "ByteLevel"}]}})",
     ": pre_tokenizer.pretokenizers[0].behavior: \"Contiguous\""},
    {R"({"normalizer": {"type": "Nmt"}})", ": normalizer.type: \"Nmt\" is not supported"},
    {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "x"}})",
     ": normalizer.precompiled_charsmap: is not base64"},
    {R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}})",
     ": normalizer.precompiled_charsmap: 4 bytes are not a table"},
    {R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace"}]}})",
     ": normalizer.normalizers[1].pattern: is missing"},
    {R"({"normalizer": {"type": "Replace", "pattern": {"String": ""}}})", ": normalizer.pattern.String: is empty"},
    {R"({"normalizer": {"type": "Replace", "pattern": {"Regex": "a*"}}})",
     ": normalizer.pattern.Regex: it matches an empty text"},
    {R"({"decoder": {"type": "Metaspace"}})", ": decoder.type: \"Metaspace\""},
    {R"({"added_tokens": {}})", ": added_tokens: is not a list"},
    {R"({"added_tokens": [1]})", ": added_tokens[0]: is not a table"},
    {R"({"added_tokens": [{"content": "x"}]})", ": added_tokens[0]: the id is not an integer"},
    {R"({"added_tokens": [{"id": 300}]})", ": added_tokens[0]: the token is empty"},
    {R"({"added_tokens": [{"id": 300, "content": "a"}]})",
     ": added_tokens[0]: the id is 300, but the vocabulary has 97"},
    {R"({"added_tokens": [{"id": 97, "content": "<x>"}]})", ": added_tokens[0]: the id 97 belongs to \"a\""},
    {R"({"added_tokens": [{"id": 300, "content": "<x>"}, {"id": 300, "content": "<y>"}]})",
     ": added_tokens[1]: the token"},
    {R"({"added_tokens": [{"id": 300, "content": "<x>", "lstrip": 1}]})", ": added_tokens[0].lstrip: 1 is neither"},
};

}  // namespace

TEST_CASE("each invalid or unsupported tokenizer.json is refused with file and key") {
  for (const auto& [patch, why] : bad_bpe) {
    auto file = bpe_file({"a b"});
    file.merge_patch(nlohmann::json::parse(patch));
    const temporary_file on_disk{file.dump()};
    CAPTURE(patch);
    CHECK_THROWS_WITH(open_tokenizer({.file = on_disk.path()}), Catch::StartsWith(on_disk.path().string() + why));
  }
}

TEST_CASE("the id of a token is at most 4194303, which a vocabulary must be large enough for") {
  token_table table;
  CHECK_FALSE(table.add("x", 4194303));
  CHECK(table.add("y", 4194304) == "the id 4194304 is above 4194303");
  CHECK(table.size() == 4194304);
  const auto check_refusal = [](const std::string& patch, const char* why) {
    auto file = bpe_file({"a b"});
    file.merge_patch(nlohmann::json::parse(patch));
    const temporary_file on_disk{file.dump()};
    CHECK_THROWS_WITH(open_tokenizer({.file = on_disk.path()}), Catch::Contains(why));
  };
  check_refusal(R"({"model": {"vocab": {"x": 4194303}}})", "tokens have ids up to 4194303: too far apart");
  check_refusal(R"({"model": {"vocab": {"x": 4194304}}})", "the id 4194304 is above 4194303");
  check_refusal(R"({"added_tokens": [{"id": 4194303, "content": "<x>"}]})", "too far apart");
  check_refusal(R"({"added_tokens": [{"id": 4194304, "content": "<x>"}]})",
                "the id is not an integer from 0 to 4194303");
}

TEST_CASE("what is not supported is refused with the alternative") {
  for (const char* patch : {R"({"model": {"type": "WordLevel"}})", R"({"model": {"byte_fallback": true}})",
                            R"({"normalizer": {"type": "Nmt"}})", R"({"decoder": {"type": "CTC"}})"}) {
    auto file = bpe_file({"a b"});
    file.merge_patch(nlohmann::json::parse(patch));
    const temporary_file on_disk{file.dump()};
    CAPTURE(patch);
    CHECK_THROWS_WITH(open_tokenizer({.file = on_disk.path()}), Catch::Contains("kind = \"tokens\""));
  }
}

TEST_CASE("a file that is not JSON is refused with the byte, a duplicate key with the key") {
  const auto refused = [](const std::string& text, const std::string& why) {
    const temporary_file on_disk{text};
    CAPTURE(text);
    CHECK_THROWS_WITH(open_tokenizer({.file = on_disk.path()}), on_disk.path().string() + ": " + why);
  };
  refused("", "is not JSON from byte 1 on");
  refused("{\"model\": {", "is not JSON from byte 12 on");
  refused("[]", "holds no JSON object");
  refused("{\"a\": 1e999}", "is not JSON: number overflow parsing '1e999'");
  refused("{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}", "is nested more than 100 deep");
  refused("{\"model\": {}, \"model\": {}}", "\"model\" is given twice");
  refused("{\"a\xff\"}", "is not UTF-8: byte 3 is 0xff");
  refused(R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}})", "model.unk_token: is missing");
}

TEST_CASE("an invalid merge is refused with its line") {
  const temporary_folder folder;
  const auto open = [&](const std::string& vocab, const std::string& merges) {
    std::ofstream{folder.path() / "vocab.json"} << vocab;
    std::ofstream{folder.path() / "merges.txt"} << merges;
    return open_tokenizer({.file = folder.path()});
  };
  const std::string vocab = R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})";
  CHECK(open(vocab, "#version: 0.2\na b\n")->encode("abb<|endoftext|>") == std::vector<std::uint32_t>{2, 1, 3});
  CHECK(open(vocab, "a b\r\n")->special().end_of_text == 3u);
  CHECK_THROWS_WITH(open(vocab, "#version: 0.2\na b\nab\n"),
                    Catch::EndsWith("merges.txt: line 3: \"ab\" is not two tokens with a blank between"));
  CHECK_THROWS_WITH(open(vocab, "a b\nb a\n"), Catch::EndsWith("merges.txt: line 2: \"ba\" is not in the vocabulary"));
  CHECK_THROWS_WITH(open(R"({"a": 0, "b": 0})", ""),
                    Catch::Contains("vocab.json: vocabulary: \"b\": the id 0 belongs to"));
}

TEST_CASE("the files next to a vocabulary say how it is used") {
  const temporary_folder folder;
  std::ofstream{folder.path() / "vocab.txt"} << "[UNK]\nA\na\n##a\nstop\n";
  std::ofstream{folder.path() / "tokenizer_config.json"}
      << R"({"do_lower_case": false, "eos_token": {"content": "stop"}, "added_tokens_decoder": {"5": {"content": "<x>", "lstrip": true}}})";
  const auto t = open_tokenizer({.file = folder.path()});
  CHECK(t->encode("A <x>aa stop") == std::vector<std::uint32_t>{1, 5, 2, 3, 4});
  CHECK(t->special().end_of_text == 4u);
}

TEST_CASE("a special token that is null does not exist, whatever the vocabulary has") {
  const temporary_folder folder;
  std::ofstream{folder.path() / "vocab.txt"} << "[UNK]\n</s>\n<pad>\n";
  CHECK(open_tokenizer({.file = folder.path()})->special().end_of_text == 1u);
  std::ofstream{folder.path() / "tokenizer_config.json"} << R"({"eos_token": null})";
  CHECK_FALSE(open_tokenizer({.file = folder.path()})->special().end_of_text.has_value());
  CHECK(open_tokenizer({.file = folder.path()})->special().padding == 2u);
}

TEST_CASE("a choice without a readable file is refused with what is missing") {
  const temporary_folder folder;
  const auto refused = [](const tokenizer_choice& choice, const char* why) {
    CHECK_THROWS_WITH(open_tokenizer(choice), Catch::Contains(why));
  };
  refused({.file = folder.path()},
          "the folder has no tokenizer.json, nor vocab.json with merges.txt, nor vocab.txt, nor tokenizer.model");
  refused({.file = folder.path() / "none.json"}, "none.json: no such file");
  refused({.merges = "merges.txt"}, "needs the vocabulary");
  refused({.file = "a", .vocab = "b"}, "not both");
  refused({.bytes = true, .file = "a"}, "bytes or a, not both");
  std::ofstream{folder.path() / "vocab.txt"} << "a\na\n";
  refused({.file = folder.path()}, "vocab.txt: line 2: \"a\" is there already");
}

TEST_CASE("without a choice every byte is a token") {
  const auto t = open_tokenizer({});
  CHECK(t->encode("a\u00e9") == std::vector<std::uint32_t>{'a', 0xC3, 0xA9});
  CHECK(t->decode(std::vector<std::uint32_t>{0xC3}) == "\xC3");
  CHECK(t->vocabulary() == 256);
  CHECK(t->id_of("a") == 97u);
  CHECK_THROWS_WITH(t->decode(std::vector<std::uint32_t>{256}), Catch::Contains("the id 256 is not a byte"));
  CHECK_THROWS_WITH(t->encode("\xC3"), Catch::Contains("byte 0"));
}

TEST_CASE("tokens are added to a tokenizer.json where it lacks them, with the next ids") {
  auto file = bpe_file({"a b"});
  file["added_tokens"] = {added(300, "<old>")};
  const temporary_folder folder;
  const auto path = folder.path() / "tokenizer.json";
  std::ofstream{path} << file.dump();
  const auto plain = open_tokenizer({.file = path});
  const auto t = open_tokenizer({.file = folder.path(), .added = {"<x>", "<old>", "ab", "<y>", "<x>"}});
  CHECK(t->vocabulary() == 303);
  CHECK(t->encode("a<x>ab<y><old>") == std::vector<std::uint32_t>{97, 301, 256, 302, 300});
  CHECK(t->decode(std::vector<std::uint32_t>{301, 302}) == "<x><y>");
  CHECK(t->identity() != plain->identity());
  CHECK(open_tokenizer({.file = path, .added = {"<old>"}})->identity() == plain->identity());
  CHECK_THROWS_WITH(open_tokenizer({.added = {"<x>"}}), Catch::Contains("tokens (<x>) are added to a tokenizer.json"));
}
