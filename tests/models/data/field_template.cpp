#include "models/data/field_template.hpp"

#include "models/data/json_line.hpp"
#include "models/data/record_shapes.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace hydra;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace field_template_test {

std::string filled(const std::string& text, const json& record) {
  static const std::filesystem::path file = "f.jsonl";
  return field_template{text}.of(record, {file, 3});
}

TEST_CASE("a name is a field, a text with braces has fields in it") {
  const json record{{"instruction", "Add."}, {"input", "1 2"}, {"a b", "c"}, {"what?", "d"}};
  CHECK(filled("instruction", record) == "Add.");
  CHECK(filled("{instruction}", record) == "Add.");
  CHECK(filled("{instruction}\n{input}\n", record) == "Add.\n1 2\n");
  CHECK(filled("{{{input}}} {{}} {a b}", record) == "{1 2} {} c");
  CHECK(filled("what?", record) == "d");
  CHECK(field_template{"{b}{{x}} {a?}"}.fields() == std::vector<std::string>{"b", "a"});
  CHECK(field_template{}.empty());
}

TEST_CASE("a field that is missing or null is refused by file and line, unless it is optional") {
  const json record{{"instruction", "Add."}, {"input", nullptr}, {"n", 1}};
  CHECK(filled("{instruction}{input?}{other?}.", record) == "Add..");
  CHECK_THROWS_WITH(filled("{instruction}{input}", record),
                    Contains("f.jsonl:3: \"input\" is null; in prompt, answer and text") && Contains("is {input?}"));
  CHECK_THROWS_WITH(filled("{instruktion}\n", record),
                    Contains("f.jsonl:3: there is no \"instruktion\"; did you mean \"instruction\"") &&
                        Contains("is {instruktion?}"));
  CHECK_THROWS_WITH(filled("input", record), Contains("\"input\" is not text but of type null"));
  CHECK_THROWS_WITH(filled("{n?}", record), Contains("f.jsonl:3: \"n\" is not text but of type number"));
}

TEST_CASE("braces that are no field are refused") {
  for (const char* wrong : {"{a", "a}", "{a{b}}", "} {a}", "{a}{"})
    CHECK_THROWS_WITH(field_template{wrong}, Contains("a brace without its other one"));
  for (const char* wrong : {"{}", "{?}"}) CHECK_THROWS_WITH(field_template{wrong}, Contains("without the name"));
  CHECK_THROWS_WITH(field_template{"{{a}}"}, Contains("no field is in the braces"));
}

TEST_CASE("records of usual shapes are known by the names of their fields") {
  CHECK(kind_of_record(json::parse(R"({"messages": []})")) == "chat");
  CHECK(kind_of_record(json::parse(R"({"conversations": [{"from": "human", "value": "a"}]})")) == "chat");
  CHECK(kind_of_record(json::parse(R"({"instruction": "a", "output": "b"})")) == "alpaca");
  CHECK(kind_of_record(json::parse(R"({"prompt": "a", "completion": "b"})")) == "prompt-completion");
  CHECK(kind_of_record(json::parse(R"({"text": "a", "messages": "none"})")).empty());
  CHECK(kind_of_record(json::parse("[1]")).empty());
}

}  // namespace field_template_test
