#include "runtime/base/shown_text.hpp"

#include "runtime/base/utf8.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <string>

using namespace hydra;

namespace {

bool is_valid(const std::string& text) { return valid_utf8(std::as_bytes(std::span{text})) == text.size(); }

/// Pieces of text, of what terminals obey, and of bytes that are not text.
std::string random_text(std::mt19937_64& random) {
  static const std::string pieces[]{
      "plain",        "é",      "日本",   "😀",      "\n",     "\t",     "\x1b[31m", "\x7f", std::string(1, '\0'),
      "\u0085",       "\u009b", "\u202e", "\u2066", "\u200f", "\u2028", "\xff",     "\xc3", "\xe2\x82",
      "\xed\xa0\x80", "\\",     "\""};
  std::string text;
  for (auto n = random() % 60; n > 0; --n) text += pieces[random() % std::size(pieces)];
  return text;
}

}  // namespace

TEST_CASE("what messages quote stays as it is, but for what a terminal obeys and what is not text") {
  CHECK(shown("plain é 日本 \\ \"quoted\"") == "plain é 日本 \\ \"quoted\"");
  CHECK(shown("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(shown("\x1b[31m") == "\\x1b[31m");
  CHECK(shown(std::string(1, '\0')) == "\\x00");
  CHECK(shown("\x7f\u009b") == "\\x7f\\u009b");
  CHECK(shown("\u202e\u2066\u200e\u2028") == "\\u202e\\u2066\\u200e\\u2028");
  CHECK(shown("\xff\xe2\x82") == "\\xff\\xe2\\x82");
}

TEST_CASE("a value of up to 200 bytes is quoted whole, a longer one up to the character that still fits") {
  CHECK(shown(std::string(200, 'a')) == std::string(200, 'a'));
  CHECK(shown(std::string(201, 'a')) == std::string(200, 'a') + "…");
  CHECK(shown(std::string(199, 'a') + "é") == std::string(199, 'a') + "…");
  CHECK(shown(std::string(198, 'a') + "\x1b") == std::string(198, 'a') + "…");
}

TEST_CASE("whatever is quoted is short, is UTF-8 and can stand anywhere; a whole text keeps its lines") {
  std::mt19937_64 random{7};
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random), value = shown(text), whole = printable(text);
    CAPTURE(text);
    CHECK(value.size() <= most_shown + std::string{"…"}.size());
    CHECK(is_valid(value));
    CHECK(is_printable(value));
    CHECK(is_valid(whole));
    CHECK(printable(whole) == whole);
    CHECK(std::ranges::count(whole, '\n') == std::ranges::count(text, '\n'));
    CHECK(is_printable(text) == (whole == text && text.find_first_of("\n\t") == std::string::npos));
  }
}
