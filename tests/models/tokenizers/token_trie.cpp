#include "models/tokenizers/token_trie.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using namespace hydra;

TEST_CASE("a trie finds every token that a text starts with, the shortest first") {
  token_table tokens;
  for (const char* token : {"b", "abc", "a", "\u00e9", "ab\xff", ""}) REQUIRE_FALSE(tokens.add(token, tokens.size()));
  const token_trie trie{tokens};
  using found = std::vector<std::pair<std::size_t, std::uint32_t>>;
  const auto prefixes = [&](std::string_view text) {
    found all;
    trie.prefixes(text, [&](std::size_t length, std::uint32_t id) { all.emplace_back(length, id); });
    return all;
  };
  CHECK(prefixes("abcd") == found{{1, 2}, {3, 1}});
  CHECK(prefixes("ab\xff") == found{{1, 2}, {3, 4}});
  CHECK(prefixes("\u00e9") == found{{2, 3}});
  CHECK(prefixes("\xc3").empty());
  CHECK(prefixes("c").empty());
  CHECK(prefixes("").empty());
}
