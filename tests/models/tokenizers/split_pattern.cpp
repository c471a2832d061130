#include "models/tokenizers/pattern_syntax.hpp"
#include "models/tokenizers/split_pattern.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;

namespace {

std::vector<std::string> found(const split_pattern& pattern, std::string_view text) {
  std::vector<std::string> all;
  pattern_search search{pattern, text};
  while (const auto f = search.next()) all.emplace_back(text.substr(f->begin, f->end - f->begin));
  return all;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a pattern has the meaning that it has in Oniguruma") {
  CHECK(found(split_pattern{R"(\w+)"}, "e\u0301t\u0660_ x") == texts{"e\u0301t\u0660_", "x"});
  CHECK(found(split_pattern{R"([^\s]+)"}, "a\u180eb\u2003c") == texts{"a\u180eb", "c"});
  CHECK(found(split_pattern{R"(\p{Han}+)"}, "a\u4e2d\u3001b") ==
        texts{"\u4e2d"});  // U+3001 is in Han's extensions only
  CHECK(found(split_pattern{R"((?i:'s))"}, "'S '\u017f") == texts{"'S", "'\u017f"});
  CHECK(found(split_pattern{R"(x*)"}, "a\u00e9xx") == texts{"xx"});
  CHECK(found(split_pattern::literal("a.b"), "a.b axb") == texts{"a.b"});
}

TEST_CASE("what PCRE2 would interpret differently is refused") {
  for (const char* pattern :
       {R"(\h)", R"([a[bc]])", R"([a-z&&[^b]])", R"(\p{N}{1,3}+)", R"(a{,3})", R"((?m:.))", R"([\W])", "a\\"}) {
    CAPTURE(pattern);
    CHECK_THROWS_WITH(split_pattern{pattern}, Catch::Contains("which Hydra does not read"));
  }
  CHECK_THROWS_WITH(split_pattern{"(a"}, Catch::StartsWith("the pattern \"(a\": missing closing parenthesis"));
  CHECK_THROWS_WITH(split_pattern{R"(\p{Nonsense})"}, Catch::Contains("unknown property"));
}

TEST_CASE("a long run of one class does not overflow the stack") {
  const std::string blanks(1'000'000, ' ');
  CHECK(found(split_pattern{split_pattern::gpt2()}, blanks + "a").size() == 2);
  CHECK(found(split_pattern{R"((?:a|b)+)"}, std::string(100'000, 'a')).size() == 1);
}
