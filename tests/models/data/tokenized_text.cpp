#include "models/data/tokenized_text.hpp"

#include "tests/models/data/letter_tokenizer.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

std::string many_lines() {
  std::string text;
  for (int i = 0; text.size() < 9'000'000; ++i) text += "line " + std::to_string(i) + " of a long text\n";
  return text;
}

std::vector<std::size_t> piece_sizes(const std::string& text, const tokenizer& by) {
  std::vector<std::size_t> sizes;
  tokenize(text, by, [&](std::span<const std::uint32_t> ids) { sizes.push_back(ids.size()); });
  return sizes;
}

}  // namespace

TEST_CASE("a text is cut after a line break that no token of a tokenizer can span") {
  CHECK(line_cut("one\ntwo", 1) == 4);
  CHECK(line_cut("one\ntwo\nthree", 5) == 8);
  CHECK(line_cut("one \n = two", 1) == 5);
  CHECK(line_cut("one\n\ntwo", 1) == 8);        // two line breaks are one piece of white space
  CHECK(line_cut("one\n\n two", 1) == 5);       // except for the blank that belongs to the word
  CHECK(line_cut("one\n\xC2\xA0two", 1) == 9);  // the next character may be white space
  CHECK(line_cut("one two", 1) == 7);
  CHECK(line_cut("one\n", 1) == 4);
}

TEST_CASE("a long text is tokenised in pieces whose ids are those of the whole") {
  const std::string text = many_lines();
  const letter_tokenizer by;
  std::vector<std::uint32_t> ids;
  std::size_t pieces = 0;
  tokenize(text, by, [&](std::span<const std::uint32_t> part) {
    ids.insert(ids.end(), part.begin(), part.end());
    ++pieces;
  });
  CHECK(pieces == 3);
  CHECK(ids == by.encode(text));
}

TEST_CASE("a tokenizer whose ids depend on the start of a text gets the text as a whole") {
  const std::string text = many_lines();
  CHECK(piece_sizes(text, letter_tokenizer::with_prefix()) == std::vector<std::size_t>{text.size() + 1});
}

TEST_CASE("the tokens of a text file come from the cache the second time") {
  const temporary_folder folder;
  ::setenv("HYDRA_CACHE", folder.path().c_str(), 1);
  const auto by = std::make_shared<letter_tokenizer>();
  const auto file = folder.write("text.txt", "ab\ncd");
  const token_list first = tokens_of(file, by);
  const std::size_t calls = by->calls;
  const token_list second = tokens_of(file, by);
  CHECK(by->calls == calls);
  REQUIRE(second.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(second[i] == letters("ab\ncd")[i]);
  folder.write("text.txt", "ab\ncde");
  CHECK(tokens_of(file, by).size() == 6);
  ::unsetenv("HYDRA_CACHE");
}

TEST_CASE("a text that is not UTF-8 is refused before it is tokenised, with the byte's position") {
  const temporary_folder folder;
  const auto file = folder.write("latin.txt", "good\xFF");
  CHECK_THROWS_WITH(tokens_of(file, std::make_shared<letter_tokenizer>()),
                    Contains("latin.txt") && Contains("byte 4 is 0xff"));
}

TEST_CASE("a text is tokenised as a whole if an added token may span a line break") {
  const auto with_token = [](const nlohmann::json& token) {
    auto file = bpe_file({"a b"});
    file["added_tokens"] = {token};
    const temporary_file on_disk{file.dump()};
    return open_tokenizer({.file = on_disk.path()});
  };
  auto plain = added(300, "<x>"), left = plain, right = plain;
  left["lstrip"] = true;
  right["rstrip"] = true;
  const std::string text = many_lines();
  CHECK(piece_sizes(text, *with_token(plain)).size() == 3);
  CHECK(piece_sizes(text, *with_token(left)).size() == 1);
  CHECK(piece_sizes(text, *with_token(right)).size() == 1);
  CHECK(piece_sizes(text, *with_token(added(300, "text\nline"))).size() == 1);
}

TEST_CASE("a text is tokenised as a whole if the model may join lines, although examples do not show it") {
  const auto opened = [](nlohmann::json file, const char* patch) {
    file.merge_patch(nlohmann::json::parse(patch));
    const temporary_file on_disk{file.dump()};
    return open_tokenizer({.file = on_disk.path()});
  };
  const std::string text = many_lines();
  const auto pieces = piece_bpe_file({"?", "\u2581", "l", "i"}, {});
  CHECK(piece_sizes(text, *opened(pieces, "{}")).size() == 1);
  CHECK(piece_sizes(text, *opened(pieces, R"({"normalizer": null, "model": {"fuse_unk": false}})")).size() == 1);
  CHECK(piece_sizes(text, *opened(unigram_file({{"?", 0}}), "{}")).size() == 3);
  CHECK(piece_sizes(text, *opened(unigram_file({{"?", 0}}), R"({"pre_tokenizer": {"type": "Metaspace"}})")).size() ==
        1);
}

TEST_CASE("the key of a cached text contains the rules and the libraries that determine its ids") {
  const std::string key = cache_key("text t", letter_tokenizer{});
  CHECK_THAT(key, Contains("text t") && Contains("letters") && Contains("rules ") && Contains("utf8proc ") &&
                      Contains("PCRE2 "));
}
