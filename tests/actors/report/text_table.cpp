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

TEST_CASE("a column without a value is left out of a table that fits", "[text_table]") {
  text_table t{{{"model"}, {"floor"}, {"why"}, {"loss"}}};
  CHECK(t.fitted() == "model  floor  why  loss\n");
  t.add({"a", "-", "", "2.5"});
  t.add({"b", "-", "", "-"});
  CHECK(t.fitted() == "model  loss\na      2.5\nb      -\n");
}

TEST_CASE("of a table that is too wide dispensable columns are left out, and the last one is wrapped", "[text_table]") {
  text_table t{{{"model"}, {"shards", alignment::right, 2}, {"accuracy", alignment::right, 1}, {"status"}}};
  t.add({"a", "12", "34 %", "failed: not finite: the loss is nan, so lower the rate"});
  t.add({"b", "3", "35 %", "finished"});
  CHECK(t.fitted(100) == t.to_string());
  CHECK(t.fitted(65) ==
        "model  accuracy  status\n"
        "a          34 %  failed: not finite: the loss is nan, so lower\n"
        "                 the rate\n"
        "b          35 %  finished\n"
        "(columns left out to stay within 65 characters: shards)\n");
  CHECK(t.fitted(20) ==
        "model  status\n"
        "a      failed: not finite: the loss is nan, so\n"
        "       lower the rate\n"
        "b      finished\n"
        "(columns left out to stay within 20 characters: shards, accuracy)\n");
}

TEST_CASE("a text is wrapped between words, behind what is on its first line already", "[text_table]") {
  CHECK(wrap("one two three", 10, 0) == "one two\nthree");
  CHECK(wrap("one two three", 10, 4) == "one\n    two\n    three");
  CHECK(wrap("incomprehensible words", 10, 2) == "incomprehensible\n  words");
  CHECK(wrap("", 10, 2).empty());
}
