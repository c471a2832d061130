#include "apps/workload/parse.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

TEST_CASE("values know the line they were written in") {
  const value_table t = parse_toml("[run]\n\nseed = 3\nlist = [\n  1,\n  2]\n", "f.toml");
  CHECK(to_string(find_path(t, "run")->where) == "f.toml:1");
  CHECK(to_string(find_path(t, "run.seed")->where) == "f.toml:3");
  CHECK(to_string(find_path(t, "run.list")->as<value_list>()->at(1).where) == "f.toml:6");
}

TEST_CASE("keys keep the order of the file") {
  const value_table t = parse_toml("b = 1\na = 2\nc.z = 3\nc.y = 4\n", "f.toml");
  REQUIRE(t.entries.size() == 3);
  CHECK(t.entries[0].key == "b");
  CHECK(t.entries[1].key == "a");
  CHECK(t.entries[2].is.as<value_table>()->entries[0].key == "z");
}

TEST_CASE("lines may end as on Windows") {
  const value_table t = parse_toml("a = 1\r\nb = 2\r\n", "f.toml");
  CHECK(t.find("b")->written == "2");
  CHECK(t.find("b")->where.line == 2);
}

TEST_CASE("a path through something that is not a table is refused where that is written") {
  value_table t = parse_toml("\noptimizer = 3\n", "f.toml");
  CHECK_THROWS_WITH(set_path(t, "optimizer.learning_rate", text_value("x", {})),
                    Catch::StartsWith("f.toml:2: optimizer: 3 ") && Catch::Contains("needs a table"));
}

TEST_CASE("a set path replaces a value, or makes the tables on its way") {
  value_table t = parse_toml("a = { b = 1 }\n", "f.toml");
  set_path(t, "a.b", text_value("new", {}));
  set_path(t, "x.y.z", text_value("made", {}));
  CHECK(*find_path(t, "a.b")->as<std::string>() == "new");
  CHECK(*find_path(t, "x.y.z")->as<std::string>() == "made");
  CHECK(find_path(t, "a.c") == nullptr);
}

}  // namespace hydra::apps
