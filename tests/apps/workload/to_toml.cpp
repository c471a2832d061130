#include "apps/workload/to_toml.hpp"

#include "apps/workload/parse.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

namespace {

std::string again(const std::string& text) { return to_toml(parse_toml(text, "t.toml")); }

}  // namespace

TEST_CASE("tables keep their order, their keys' order and the spelling of numbers") {
  const std::string text =
      "[z]\nb = 1_000\na = 3E-4\n\n[[m]]\nx = 0x1F\n\n[[m]]\nx = true\n\n[d.two]\nk = 1\n\n[d.one]\nk = 2\n";
  CHECK(again(text) == text);
}

TEST_CASE("deeper tables and lists are written inline") {
  CHECK(again("[m]\n[m.o]\nrate = 1\nbetas = [0.9,0.99]\n[m.o.deep]\nx = \"y\"\n") ==
        "[m.o]\nrate = 1\nbetas = [0.9, 0.99]\ndeep = { x = \"y\" }\n");
}

TEST_CASE("a value alone is written on one line, as it was spelled") {
  for (const char* text : {"1e-3", "\"a \\\" b\"", "[0.9, 0.999]", "{ kind = \"cosine\", warmup = 4 }", "true"})
    CHECK(inline_toml(*parse_value(text)) == text);
  CHECK_FALSE(parse_value("no value").has_value());
}

TEST_CASE("texts and keys are quoted so that they read back") {
  const std::string text = "[t]\n\"a key\" = \"quote \\\" backslash \\\\ newline \\u000A\"\n";
  const std::string once = again(text);
  const value_table back = parse_toml(once, "t.toml");
  CHECK(*find_path(back, "t.a key")->as<std::string>() == "quote \" backslash \\ newline \n");
  CHECK(again(once) == once);
}

}  // namespace hydra::apps
