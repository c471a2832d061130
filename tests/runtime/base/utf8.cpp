#include "runtime/base/utf8.hpp"

#include <catch2/catch.hpp>

#include <string_view>

using namespace hydra;

namespace {

std::size_t valid(std::string_view text) { return valid_utf8(std::as_bytes(std::span{text})); }

}  // namespace

TEST_CASE("valid UTF-8 of one to four bytes is accepted whole") {
  for (const std::string_view text : {"", "plain", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                      "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA4z"})
    CHECK(valid(text) == text.size());
}

TEST_CASE("overlong forms, surrogates, too large and lone bytes are not UTF-8") {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xC3z", "\xE2\x82z", "\xF0\x9F\x98z"})
    CHECK(valid(text) == 0);
}

TEST_CASE("the position is that of the first invalid sequence") {
  CHECK(valid("abc\xFFz") == 3);
  CHECK(valid("\xC3\xA4\xC3") == 2);
  CHECK(valid("ab\xE2\x82") == 2);
}

TEST_CASE("a byte order mark is left out at the start alone") {
  CHECK(without_byte_order_mark("\xEF\xBB\xBFz\xEF\xBB\xBF") == "z\xEF\xBB\xBF");
  CHECK(without_byte_order_mark("\xEF\xBBz") == "\xEF\xBBz");
  CHECK(without_byte_order_mark("").empty());
}

TEST_CASE("code points are counted, not bytes") {
  CHECK(code_points("") == 0);
  CHECK(code_points("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z") == 5);
}
