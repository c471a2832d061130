#include "models/data/csv_reader.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <string_view>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

const std::filesystem::path name = "f.csv";

csv_file_text file(std::string_view text, char separator = ',') {
  return {name, std::as_bytes(std::span{text}), separator};
}

std::vector<csv_record> records(std::string_view text, char separator = ',') {
  std::vector<csv_record> all;
  for_each_record(file(text, separator), [&](csv_record& r) {
    all.push_back(r);
    return true;
  });
  return all;
}

using fields = std::vector<std::string>;

}  // namespace

TEST_CASE("records have the line and the byte where they start") {
  const auto all = records("a,b\n1, 2 \r\n\n\"x\ny\",\"q \"\"z\"\"\"\nlast,");
  REQUIRE(all.size() == 4);
  CHECK(all[0] == csv_record{1, 0, {"a", "b"}});
  CHECK(all[1] == csv_record{2, 4, {"1", "2"}});
  CHECK(all[2] == csv_record{4, 12, {"x\ny", "q \"z\""}});
  CHECK(all[3] == csv_record{6, 28, {"last", ""}});
}

TEST_CASE("lines end with CR, too, as old spreadsheets write them") {
  const std::string_view text = "a,b\r1,2\r\"x\ry\",3\r\r\n4,5";
  const auto all = records(text);
  REQUIRE(all.size() == 4);
  CHECK(all[1] == csv_record{2, 4, {"1", "2"}});
  CHECK(all[2] == csv_record{3, 8, {"x\ry", "3"}});
  CHECK(all[3].fields == fields{"4", "5"});
  CHECK(line_number(file(text), all[3].begin) == all[3].line);
  CHECK(record_at(file(text), 8).fields == fields{"x\ry", "3"});
}

TEST_CASE("a record can be read from its offset") {
  const std::string_view text = "a,b\n1,2\n\"x\ny\",3\n4,5";
  CHECK(record_at(file(text), 8).fields == fields{"x\ny", "3"});
  CHECK(record_at(file(text), 16).fields == fields{"4", "5"});
}

TEST_CASE("separators may be others, and a byte order mark is not a field") {
  CHECK(records("a;b,c\n", ';')[0].fields == fields{"a", "b,c"});
  CHECK(records("a\t\tb c\n", '\t')[0].fields == fields{"a", "", "b c"});
  CHECK(records("\xEF\xBB\xBFid,x\n")[0] == csv_record{1, 3, {"id", "x"}});
}

TEST_CASE("reading ends when the callback returns false") {
  std::size_t taken = 0;
  for_each_record(file("a\nb\nc\n"), [&](csv_record&) { return ++taken < 2; });
  CHECK(taken == 2);
}

TEST_CASE("quotes that do not match and invalid UTF-8 are refused with the line") {
  CHECK_THROWS_WITH(records("a,b\nx\"y,2\n"), Contains("f.csv:2: quotes do not match"));
  CHECK_THROWS_WITH(records("a,b\n\"x,2\n3,4\n"), Contains("f.csv:2: the quoted field that begins here does not end"));
  CHECK_THROWS_WITH(records("a,b\n1,\xFF\n"), Contains("f.csv:2: is not UTF-8: byte 2 of the line is 0xff"));
}
