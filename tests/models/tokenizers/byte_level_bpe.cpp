#include "tests/models/tokenizers/made_tokenizers.hpp"

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace hydra;
using namespace hydra::test;
using ids = std::vector<std::uint32_t>;

namespace {

std::shared_ptr<const tokenizer> opened(const nlohmann::json& file) {
  const temporary_file on_disk{file.dump()};
  return open_tokenizer({.file = on_disk.path()});
}

nlohmann::json split(const std::string& regex, const std::string& behavior = "Isolated", bool invert = false) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", behavior}, {"invert", invert}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
}

}  // namespace

TEST_CASE("merges are ordered by rank, not by length or position") {
  const auto t = opened(bpe_file({"b c", "a b", "a bc"}));
  CHECK(t->encode("abc") == ids{258});  // b+c first, then a+bc
  CHECK(t->encode("ab") == ids{257});
  CHECK(t->encode("aab bc") == ids{'a', 257, ' ', 256});
}

TEST_CASE("of two merges for one pair the later one counts, as in the `tokenizers` package") {
  const auto t = opened(bpe_file({"a b", "b c", "a b"}));
  CHECK(t->encode("abc") == ids{'a', 257});
}

TEST_CASE("a word that is a token is kept as a whole only if the file ignores merges") {
  auto file = bpe_file({"b c", "a b"});
  file["model"]["vocab"]["abc"] = 258;  // no merge produces it
  CHECK(opened(file)->encode("abc") == ids{'a', 256});
  file["model"]["ignore_merges"] = true;
  CHECK(opened(file)->encode("abc") == ids{258});
  CHECK(opened(file)->encode("abcab") == ids{'a', 256, 257});
}

TEST_CASE("texts are split into words as GPT-2 splits them") {
  const auto t = opened(bpe_file({"Ġ a", "' s", "Ġ Ġ", "a Ġ"}));
  CHECK(t->encode("a  a") == ids{'a', ' ', 256});  // the last blank belongs to the word; no token crosses words
  CHECK(t->encode("a's") == ids{'a', 257});
  CHECK(t->encode("a  ") == ids{'a', 258});
}

TEST_CASE("U+180E is not white space, although PCRE2's own \\s has it") {
  const auto t = opened(bpe_file({"! á"}));  // 0xE1 is the first byte of U+180E
  CHECK(t->encode("!\u180e").front() == 256);
}

TEST_CASE("what a Split removes is dropped, what it isolates is kept") {
  const ids a_b{'a', 'b'}, spaces{'a', ' ', ' ', 'b'};
  auto file = bpe_file({});
  file["pre_tokenizer"] = split(R"(\s+)");
  CHECK(opened(file)->encode("a  b") == spaces);
  file["pre_tokenizer"] = split(R"(\s+)", "Removed");
  CHECK(opened(file)->encode("a  b") == a_b);
  file["pre_tokenizer"] = split(R"(\S+)", "Removed", true);
  CHECK(opened(file)->encode("a  b") == a_b);
}

TEST_CASE("a text or a piece that does not start with a blank gets one if the file says so") {
  auto file = bpe_file({});
  file["added_tokens"] = {added(256, "<x>")};
  file["pre_tokenizer"]["add_prefix_space"] = true;
  const auto t = opened(file);
  CHECK(t->encode("a<x>b<x> c") == ids{' ', 'a', 256, ' ', 'b', 256, ' ', 'c'});
  CHECK(t->encode("").empty());
}

TEST_CASE("added tokens are found first, the longest at each position, according to their flags") {
  auto file = bpe_file({});
  file["added_tokens"] = {added(256, "<x>"), added(257, "<x>y"), added(258, "cat")};
  file["added_tokens"][2]["single_word"] = true;
  file["added_tokens"][0]["lstrip"] = true;
  file["added_tokens"][1]["rstrip"] = true;
  const auto t = opened(file);
  CHECK(t->encode("a <x>") == ids{'a', 256});
  CHECK(t->encode(" <x>y \n!") == ids{' ', 257, '!'});
  CHECK(t->encode("cats") == ids{'c', 'a', 't', 's'});
  CHECK(t->encode("a cat!") == ids{'a', ' ', 258, '!'});
  CHECK(t->decode(ids{258, 256}) == "cat<x>");
}

TEST_CASE("NFC composes before the split into words, but not within added tokens that are not normalised") {
  auto file = bpe_file({});
  file["normalizer"] = {{"type", "NFC"}};
  CHECK(opened(file)->encode("e\u0301") == ids{0xC3, 0xA9});
  file["added_tokens"] = {added(256, "e\u0301")};
  CHECK(opened(file)->encode("xe\u0301") == ids{'x', 256});
  file["added_tokens"] = {added(256, "e\u0301", true)};
  CHECK(opened(file)->encode("x\u00e9") == ids{'x', 256});
}

TEST_CASE("decoding returns the bytes, also those of partial characters") {
  const auto t = opened(bpe_file({"Ġ a", "Ã ©"}));
  const std::string text = "a\u00e9 \u4e2d\n\t a\r\n \U0001F600";
  CHECK(t->decode(t->encode(text)) == text);
  CHECK(t->decode(ids{0xE4, 0xB8}) == "\xE4\xB8");
  CHECK_THROWS_WITH(t->decode(ids{'a', 258}), Catch::Contains("token 1: the id 258 is not below 258"));
}

TEST_CASE("a byte without a token is unknown or refused, never dropped") {
  auto file = bpe_file({});
  file["model"]["vocab"].erase("z");
  CHECK_THROWS_WITH(opened(file)->encode("az"), Catch::Contains("the byte 0x7A of \"az\" has no token"));
  file["model"]["unk_token"] = "a";
  CHECK(opened(file)->encode("zzb") == ids{'a', 'a', 'b'});
  file["model"]["fuse_unk"] = true;
  CHECK(opened(file)->encode("zzb") == ids{'a', 'b'});
}

TEST_CASE("a text that is not UTF-8 is refused with the byte") {
  CHECK_THROWS_WITH(opened(bpe_file({}))->encode("ab\xff"), Catch::Contains("is not UTF-8: byte 2 is 0xff"));
}

TEST_CASE("threads that share a tokenizer get the same ids as a single thread") {
  const auto t = opened(bpe_file({"a b", "ab ab", "Ġ ab"}));
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "abab ab" + std::to_string(i);
  const ids alone = t->encode(text);
  std::vector<ids> found(4);
  std::vector<std::thread> threads;
  for (ids& f : found) threads.emplace_back([&] { f = t->encode(text); });
  for (std::thread& each : threads) each.join();
  for (const ids& f : found) CHECK(f == alone);
}

TEST_CASE("special tokens have usual names, or those given next to the tokenizer; other files change the identity") {
  auto file = bpe_file({});
  file["added_tokens"] = {added(256, "<|endoftext|>")};
  const auto t = opened(file);
  CHECK(t->special().end_of_text == 256u);
  CHECK(t->special().padding == std::nullopt);
  CHECK(t->id_of("<|endoftext|>") == 256u);
  CHECK(t->id_of("Ġ") == 32u);
  CHECK(t->vocabulary() == 257);
  CHECK(t->identity() == opened(file)->identity());
  CHECK(t->identity() != opened(bpe_file({}))->identity());
}
