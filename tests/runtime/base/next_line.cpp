#include "runtime/base/next_line.hpp"

#include <catch2/catch.hpp>

#include <sstream>
#include <vector>

using namespace hydra;

namespace {

std::vector<std::string> all_lines(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> all;
  for (std::string line; next_line(in, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("lines are read as by std::getline") {
  for (const std::string text : {"", "\n", "a", "a\n", "a\n\nb", "\n\n", "a\r\n\xff"}) {
    std::istringstream in{text};
    std::vector<std::string> expected;
    for (std::string line; std::getline(in, line);) expected.push_back(line);
    CHECK(all_lines(text) == expected);
  }
}

TEST_CASE("of a line that is too long the start is kept, and the next line is read as it is") {
  const std::string longest(longest_line, 'a');
  const auto lines = all_lines(longest + "\n" + longest + "b\nc");
  CHECK((lines == std::vector<std::string>{longest, longest, "c"}));
}

TEST_CASE("a stream that has failed has no line") {
  std::istringstream in{"a"};
  in.setstate(std::ios::failbit);
  std::string line;
  CHECK_FALSE(next_line(in, line));
}
