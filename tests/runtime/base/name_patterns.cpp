#include "runtime/base/name_patterns.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("of patterns the last one that matches a name decides") {
  const name_patterns p{{"*", "!head.*", "head.b?as", "h.[01].*"}};
  CHECK(p.matches("h.0.weight"));
  CHECK_FALSE(p.matches("head.weight"));
  CHECK(p.matches("head.bias"));
  CHECK_FALSE(name_patterns{}.matches("head.bias"));
  CHECK_FALSE(name_patterns{{"head"}}.matches("head.bias"));
}

TEST_CASE("a pattern that matches no name is refused with its key and the nearest name") {
  const std::vector<std::string> names{"h.0.bias", "head.weight"};
  CHECK_NOTHROW(name_patterns{{"*", "!head.*"}}.check("groups", "parameter", names));
  CHECK_THROWS_WITH((name_patterns{{"*", "!haed.weight"}}.check("groups", "parameter", names)),
                    "\"groups\" has \"!haed.weight\", which no parameter matches; did you mean \"head.weight\"?");
  CHECK_THROWS_WITH(
      (name_patterns{{"zzzzzz"}}.check("groups", "parameter", names)),
      "\"groups\" has \"zzzzzz\", which no parameter matches; the nearest are \"h.*.bias\", \"head.weight\"");
}
