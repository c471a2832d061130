#include "models/weights/model_config.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using namespace hydra::test;

namespace {

/// The error message for a file, after its name; empty if it is read.
std::string refusal(const std::string& text) {
  const temporary_file on_disk{text};
  try {
    model_config::read(on_disk.path());
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text.substr(on_disk.path().string().size());
  }
}

std::string nested(std::size_t depth) {
  return R"({"a": )" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

}  // namespace

TEST_CASE("a configuration that is not a JSON object is refused with the parser's message") {
  CHECK(refusal("{}") == "");
  CHECK(refusal("[]") == " holds no JSON object");
  CHECK_THAT(refusal(R"({"a": 1,})"), Catch::StartsWith(" holds no JSON object: byte 9: syntax error"));
  CHECK(refusal(R"({"a": 1e999})") == " holds no JSON object: number overflow parsing '1e999'");
  CHECK_THAT(refusal("{\"a\": \"\xFF\"}"), Catch::StartsWith(" holds no JSON object: byte 8: "));
}

TEST_CASE("a configuration that is nested too deep is refused") {
  CHECK(refusal(nested(99)) == "");
  CHECK(refusal(nested(100)) == " is nested more than 100 deep");
  CHECK(refusal(nested(100'000)) == " is nested more than 100 deep");
}

TEST_CASE("an integer that does not fit into 64 bits with a sign is refused, not wrapped around") {
  const model_config c{
      "f",
      nlohmann::json::parse(R"({"a": 9223372036854775807, "b": 9223372036854775808, "c": [1, 18446744073709551615]})")};
  CHECK(c.integer("a") == 9223372036854775807);
  CHECK_THROWS_WITH(c.integer("b"), "f: b: 9223372036854775808 is not below 2^63");
  CHECK_THROWS_WITH(c.integers("c"), "f: c: 18446744073709551615 is not below 2^63");
}

TEST_CASE("a configuration knows which of its keys nobody asked for, in tables that were opened too") {
  const model_config config{"f",
                            {{"used", 1},
                             {"other", {{"a", 1}}},
                             {"none", nullptr},
                             {"opened", {{"b", 2}, {"c", {1}}}},
                             {"list", {{{"d", 3}}, {{"d", 4}, {"e", true}}}},
                             {"without", 5}}};
  CHECK(config.integer("used") == 1);
  CHECK(model_config{config}.table("opened")->has("b"));
  for (const model_config& entry : config.tables("list")) CHECK(entry.integer("d") > 2);
  config.ignore({"without"});
  CHECK(config.unread() == std::vector<std::string>{"list[1].e", "opened.c", "other"});
  CHECK_THROWS_WITH(config.tables("used"), "f: used: 1 is not a list");
  CHECK_THROWS_WITH(config.table("opened")->tables("c"), "f: opened.c[0]: 1 is not a table");
}
