#include "models/tokenizers/piece_normalizers.hpp"

#include "models/tokenizers/base64.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace hydra;
using made = std::optional<std::string>;

namespace {

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
  return bytes;
}

/// A table that replaces single bytes of ASCII by texts. All offsets are 1: a byte's node is at byte ^ 1, its value at
/// byte, which two bytes therefore must not share.
std::string table(const std::vector<std::pair<char, std::string>>& entries) {
  std::vector<std::uint32_t> trie(256);
  trie[0] = 1u << 10;
  std::string texts;
  for (const auto& [byte, text] : entries) {
    const auto label = static_cast<unsigned char>(byte);
    trie[label ^ 1u] = 1u << 10 | 1u << 8 | label;
    trie[label] = 1u << 31 | static_cast<std::uint32_t>(texts.size());
    texts += text + '\0';
  }
  std::string all = little_endian(4 * 256);
  for (const std::uint32_t unit : trie) all += little_endian(unit);
  return all + texts;
}

}  // namespace

TEST_CASE("prefixes are put before texts, white space is dropped at their ends") {
  CHECK(prepend_normalizer{"x"}.apply("ab") == made{"xab"});
  CHECK(prepend_normalizer{"x"}.apply("") == made{});
  CHECK(strip_normalizer(true, true).apply(" \u00a0a b\n") == made{"a b"});
  CHECK(strip_normalizer(false, true).apply(" a ") == made{" a"});
  CHECK(strip_normalizer(true, false).apply(" a ") == made{"a "});
  CHECK(strip_normalizer(true, true).apply("a") == made{});
  CHECK(strip_normalizer(true, true).apply(" ") == made{""});
}

TEST_CASE("a replacement replaces all that a text or a pattern finds") {
  CHECK(text_replacement("aa", "b").apply("aaaxa") == made{"baxa"});
  CHECK(text_replacement("a", "").apply("aba") == made{"b"});
  CHECK(text_replacement("c", "").apply("aba") == made{});
  CHECK(text_replacement(split_pattern{" {2,}"}, "_").apply("a  b c   d") == made{"a_b c_d"});
}

TEST_CASE("normal forms, lower case and dropped marks are those of Unicode") {
  CHECK(form_normalizer{normal_form::nfkc}.apply("\ufb01e\u0301") == made{"fi\u00e9"});
  CHECK(form_normalizer{normal_form::nfkd}.apply("\ufb01\u00e9") == made{"fie\u0301"});
  CHECK(form_normalizer{normal_form::nfc}.apply("\ufb01e\u0301") == made{"\ufb01\u00e9"});
  CHECK(form_normalizer{normal_form::nfd}.apply("\u00e9") == made{"e\u0301"});
  CHECK(lowercase_normalizer{}.apply("A\u00c9") == made{"a\u00e9"});
  CHECK(accent_stripper{}.apply("e\u0301\u20dd\u00e9") == made{"e\u00e9"});  // an enclosing mark is one
}

TEST_CASE("a table replaces short graphemes as wholes by what it has for their first bytes") {
  const precompiled_normalizer by{table({{'a', "xyz"}, {'\n', " "}, {'e', ""}, {'\r', "-"}})};
  CHECK(by.apply("abe\n") == made{"xyzb "});
  CHECK(by.apply("a\u0301b\u0301") == made{"xyzb\u0301"});        // the accent goes with the letter
  CHECK(by.apply("a\u0301\u0302b") == made{"xyzb"});              // five bytes
  CHECK(by.apply("a\u20dd\u0302b") == made{"xyz\u20dd\u0302b"});  // six bytes: by code points
  CHECK(by.apply("\r\n\r") == made{"--"});
}

TEST_CASE("a table that is malformed is refused or has no effect") {
  CHECK_THROWS_WITH(precompiled_normalizer{""}, Catch::Contains("0 bytes are not a table"));
  CHECK_THROWS_WITH(precompiled_normalizer{little_endian(8) + "1234"}, Catch::Contains("8 bytes are not a table"));
  CHECK_THROWS_WITH(precompiled_normalizer{table({{'a', "\xff"}})}, Catch::Contains("the table's texts"));
  std::string inside = table({{'a', "\u00e9"}});
  inside[4 + 4 * 'a'] = 1;  // the second byte of the letter
  CHECK(precompiled_normalizer{inside}.apply("a") == made{"a"});
  const std::string outside = little_endian(4) + little_endian(0xFFFFFFFF);
  CHECK(precompiled_normalizer{outside}.apply("a\u00e9") == made{"a\u00e9"});
}

TEST_CASE("base64 is read with its padding, and nothing else") {
  CHECK(from_base64("aHlkcmE=") == made{"hydra"});
  CHECK(from_base64("/w==") == made{"\xff"});
  CHECK(from_base64("AAECAw==") == made{std::string("\0\1\2\3", 4)});
  CHECK(from_base64("") == made{""});
  for (const char* wrong : {"a", "aHlkcmE", "aHl!", "a==="}) CHECK(from_base64(wrong) == made{});
}
