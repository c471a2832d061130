#include "actors/report/text_table.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("columns are as wide as their widest cell and keep their alignment", "[text_table]") {
  text_table t{{{"name"}, {"n", alignment::right}, {"note"}}};
  t.add({"a", "100", "x"});
  t.add({"longer", "7", ""});
  CHECK(t.to_string() ==
        "name      n  note\n"
        "a       100  x\n"
        "longer    7\n");
}

TEST_CASE("each line of a table can be indented", "[text_table]") {
  text_table t{{{"a"}}};
  t.add({"b"});
  CHECK(t.to_string("  ") == "  a\n  b\n");
}

TEST_CASE("characters are counted, not bytes", "[text_table]") {
  CHECK(text_width("\u00fcb\u20ac") == 3);
  text_table t{{{"\u00fc"}, {"x"}}};
  t.add({"ab", "c"});
  CHECK(t.to_string() == "\u00fc   x\nab  c\n");
}

TEST_CASE("clipping does not cut a character in two", "[text_table]") {
  CHECK(clip("abc", 2) == "ab");
  CHECK(clip("abc", 3) == "abc");
  CHECK(clip("a\u20acb", 2) == "a\u20ac");
  CHECK(clip("a\u20acb", 1) == "a");
  CHECK(clip("abc", 0).empty());
}

TEST_CASE("a row needs a cell for every column", "[text_table]") {
  text_table t{{{"a"}, {"b"}}};
  CHECK_THROWS_AS(t.add({"only one"}), fault_error);
}

TEST_CASE("names that a terminal would obey are shown as they are written in files", "[text_table]") {
  text_table t{{{"a"}, {"b"}}};
  t.add({"x\x1b[31m\ny", "z\u202e"});
  CHECK(t.to_string() == "a             b\nx\\x1b[31m\\ny  z\\u202e\n");
}
