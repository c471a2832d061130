#include "apps/commands/repeated_rows.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace hydra::apps::repeated_rows_test {

std::vector<std::string> rows(const std::string& letters) {
  std::vector<std::string> all;
  for (const char c : letters) all.emplace_back(1, c);
  return all;
}

TEST_CASE("of rows that repeat each other those that spare most are found") {
  CHECK(most_repeated(rows("xabcabcabcy"), 1) == repeated_rows{.first = 1, .rows = 3, .times = 3});
  CHECK(most_repeated(rows("aaaab"), 1) == repeated_rows{.first = 0, .rows = 1, .times = 4});
  CHECK(most_repeated(rows("aabaabaab"), 1) == repeated_rows{.first = 0, .rows = 3, .times = 3});
  CHECK(most_repeated(rows("xababay"), 1) == repeated_rows{.first = 1, .rows = 2, .times = 2});
  CHECK_FALSE(most_repeated(rows("abcd"), 1));
  CHECK_FALSE(most_repeated(rows("abab"), 3));
  CHECK_FALSE(most_repeated({}, 1));
}

}  // namespace hydra::apps::repeated_rows_test
