#include "models/data/jsonl_records.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

/// The error message for a file; empty if it is accepted.

namespace jsonl_records_test {

std::string refusal(const std::string& text, const record_fields& fields = {}) {
  const temporary_folder folder;
  const auto file = folder.write("f.jsonl", text);
  try {
    jsonl_records{file, fields};
    return "";
  } catch (const fault_error& e) {
    const std::string said = e.what_happened().text;
    return said.starts_with(file.string()) ? "f.jsonl" + said.substr(file.string().size()) : said;
  }
}

TEST_CASE("records are lines, except blank ones; the last line break is optional") {
  const temporary_folder folder;
  const jsonl_records r{
      folder.write("f",
                   "{\"text\": \"one\"}\n\n  \r\n{\"text\": \"tw\\u00f6 \\n\", \"more\": [1]}\r\n{\"text\":\"three\"}"),
      {}};
  REQUIRE(r.size() == 3);
  CHECK(r.record(0).text == "one");
  CHECK(r.record(1).text == "tw\xC3\xB6 \n");
  CHECK(r.record(2).text == "three");
  CHECK(r.labels().empty());
}

TEST_CASE("prompt, answer and label are read from the fields that the options name") {
  const temporary_folder folder;
  const jsonl_records r{
      folder.write("f", "{\"q\": \"why\", \"a\": \"so\", \"l\": \"x\"}\n{\"q\": \"\", \"a\": \"no\", \"l\": -3}\n"),
      {.prompt = "q", .text = "a", .label = "l"}};
  CHECK(r.record(0).prompt == "why");
  CHECK(r.record(0).text == "so");
  CHECK(r.record(0).label == class_label{std::string{"x"}});
  CHECK(r.record(1).label == class_label{std::int64_t{-3}});
  CHECK(r.labels() == label_census{{"x", {folder.path() / "f", 1}}, {std::int64_t{-3}, {folder.path() / "f", 2}}});
}

TEST_CASE("a line that is not a record is refused by file and line") {
  const std::string good = "{\"text\": \"a\"}\n\n";
  CHECK(refusal(good) == "");
  CHECK_THAT(refusal(good + "{\"text\": \"b\"\n"), Contains("f.jsonl:3: no JSON (byte "));
  CHECK_THAT(refusal(good + "[1]\n"), Contains("f.jsonl:3: an object is expected, this is of type array"));
  CHECK_THAT(refusal(good + "{\"txet\": \"b\"}"), Contains("f.jsonl:3: there is no \"text\"; did you mean \"txet\"?"));
  CHECK_THAT(refusal(good + "{\"text\": 7}"), Contains("f.jsonl:3: \"text\" is not text but of type number"));
  CHECK_THAT(refusal(good + "{\"text\": \"\"}"), Contains("f.jsonl:3: \"text\" is empty"));
  CHECK_THAT(refusal(good + "{\"text\": \"\xFF\"}"), Contains("f.jsonl:3: is not UTF-8: byte 10 of the line is 0xff"));
  CHECK_THAT(refusal(good + "{\"text\": \"\\ud800\"}"), Contains("f.jsonl:3: no JSON"));
  for (const char* label : {"1.5", "null", "[1]", "9223372036854775808", "99999999999999999999", "1e300"})
    CHECK_THAT(refusal(std::string{"{\"text\": \"a\", \"l\": "} + label + "}", {.label = "l"}),
               Contains("f.jsonl:1: \"l\" is ") &&
                   Contains("but a class is a text, a whole number below 2^63, true or false"));
}

TEST_CASE("numbers beyond a double and too deeply nested JSON are refused by file and line") {
  const auto nested = [](std::size_t depth) {
    return "{\"text\": \"a\", \"v\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  CHECK(refusal(nested(99)) == "");
  CHECK(refusal("\n" + nested(100)) == "f.jsonl:2: is nested more than 100 deep");
  CHECK(refusal("\n" + nested(100'000)) == "f.jsonl:2: is nested more than 100 deep");
  CHECK(refusal("{\"text\": \"a\", \"v\": 1e999}") == "f.jsonl:1: no JSON: number overflow parsing '1e999'");
}

TEST_CASE("NaN and Infinity, which Python writes, are null, and are counted") {
  const temporary_folder folder;
  const auto file = folder.write(
      "f.jsonl", R"({"text": "a NaN, \"-Infinity\" \\", "score": NaN, "more": [-Infinity, Infinity, {"x": NaN}]}
{"text": "b"}
)");
  const jsonl_records r{file, {}};
  CHECK(r.record(0).text == "a NaN, \"-Infinity\" \\");
  CHECK(r.notes() == std::vector<std::string>{
                         file.string() + ": fields that are not read: \"more\"",
                         file.string() + ": NaN and Infinity, which are not JSON, are read as null in 1 record"});
  CHECK(refusal("{\"text\": NaN}") == "f.jsonl:1: \"text\" is not text but of type null");
  CHECK_THAT(refusal("{\"text\": \"a\", \"v\": 0.\n"), Contains("f.jsonl:1: no JSON (byte ") && !Contains("NaN"));
}

TEST_CASE("fields that nothing reads are named once") {
  const temporary_folder folder;
  const auto file = folder.write("f.jsonl",
                                 "{\"q\": \"a\", \"a\": \"b\", \"text\": \"c\", \"id\": 1}\n"
                                 "{\"q\": \"a\", \"a\": \"b\", \"lang\": \"en\", \"text\": \"c\"}\n");
  CHECK(jsonl_records{file, {.prompt = "q", .text = "a"}}.notes() ==
        std::vector<std::string>{file.string() + ": fields that are not read: \"lang\", \"text\""});
  CHECK(jsonl_records{folder.write("g.jsonl", "{\"text\": \"a\", \"lang\": null}\n"), {}}.notes().empty());
}

TEST_CASE("a prompt of several fields is made as written, and its fields count as read") {
  const temporary_folder folder;
  const auto file = folder.write("f.jsonl",
                                 "{\"instruction\": \"Add.\", \"input\": \"1 2\", \"output\": \"3\"}\n"
                                 "{\"instruction\": \"Sing.\", \"input\": null, \"output\": \"la\"}\n");
  const jsonl_records r{file, {.prompt = "{instruction}\n{input?}\n", .text = "{output}\n"}};
  CHECK(r.record(0).prompt == "Add.\n1 2\n");
  CHECK(r.record(0).text == "3\n");
  CHECK(r.record(1).prompt == "Sing.\n\n");
  CHECK(r.notes().empty());
  const jsonl_records without{file, {.prompt = "instruction", .text = "output"}};
  REQUIRE(without.notes().size() == 1);
  CHECK_THAT(without.notes()[0], Contains("fields that are not read: \"input\"; kind = \"alpaca\" reads"));
  CHECK(r.identity() != without.identity());
}

TEST_CASE("records without a field of the prompt, or with an empty one, have the short prompt") {
  const temporary_folder folder;
  const auto file =
      folder.write("f.jsonl",
                   "{\"i\": \"Add.\", \"in\": \"1\", \"o\": \"a\"}\n{\"i\": \"B\", \"in\": \"\", \"o\": \"b\"}\n"
                   "{\"i\": \"C\", \"o\": \"c\"}\n");
  const record_fields with{.prompt = "{i}, {in}:", .text = "o", .short_prompt = "{i}:"};
  const jsonl_records r{file, with};
  CHECK(r.record(0).prompt == "Add., 1:");
  CHECK(r.record(1).prompt == "B:");
  CHECK(r.record(2).prompt == "C:");
  CHECK_THAT(refusal("{\"in\": \"1\", \"o\": \"a\"}", with), Contains("f.jsonl:1: there is no \"i\""));
  CHECK(r.identity() != jsonl_records{file, {.prompt = "{i}, {in?}:", .text = "o"}}.identity());
}

TEST_CASE("records that cannot be read are counted, and left out if they may be") {
  const std::string text = "{\"text\": \"a\"}\n{\"text\": \"\"}\n\n{\"text\": 1}\n{\"text\": \"b\"}\n{\"text\"\n[]\n";
  CHECK(refusal("{\"text\": \"a\"}\n{\"text\": \"\"}\n") ==
        "f.jsonl:2: \"text\" is empty (1 of 2 records cannot be read; bad_rows = \"leave-out\" in [data.NAME] leaves "
        "them out)");
  CHECK_THAT(refusal(text),
             Contains("f.jsonl:2: \"text\" is empty (4 of 6 records cannot be read: line 4: \"text\" is not text") &&
                 Contains("; line 6: no JSON") && Contains("; ...; bad_rows = \"leave-out\""));
  const temporary_folder folder;
  const auto file = folder.write("f.jsonl", text);
  const jsonl_records r{file, {.bad_rows = bad_row_rule::leave_out}};
  REQUIRE(r.size() == 2);
  CHECK(r.record(1).text == "b");
  CHECK(r.where(1) == file.string() + ":5");
  REQUIRE(r.notes().size() == 1);
  CHECK_THAT(r.notes()[0],
             Contains(": 4 of 6 records cannot be read and are left out: line 2: \"text\" is empty; line 4: "));
  CHECK_THAT(r.identity(), Contains("4 left out"));
}

TEST_CASE("what is said of many bad records is said once, with their number and the first lines") {
  const std::string empty = "{\"text\": \"\"}\n", number = "{\"text\": 1}\n";
  const std::string text = empty + empty + "{\"text\": \"a\"}\n" + number + empty + number + empty + empty;
  CHECK(refusal(text) ==
        "f.jsonl:1: \"text\" is empty (7 of 8 records cannot be read: the same in lines 2, 5, ... (4 records); lines "
        "4, 6: "
        "\"text\" is not text but of type number; bad_rows = \"leave-out\" in [data.NAME] leaves them out)");
  const temporary_folder folder;
  const auto file = folder.write("f.jsonl", text);
  CHECK(jsonl_records{file, {.bad_rows = bad_row_rule::leave_out}}.notes() ==
        std::vector{file.string() + ": 7 of 8 records cannot be read and are left out: lines 1, 2, 5, ... (5 records): "
                                    "\"text\" is empty; lines 4, 6: \"text\" is not text but of type number"});
}

TEST_CASE("a file of which no record can be read is refused, whatever is left out") {
  for (const bad_row_rule rule : {bad_row_rule::refuse, bad_row_rule::leave_out})
    CHECK(refusal("{\"text\": \"\"}\n{\"text\": \"\"}\n", {.bad_rows = rule}) ==
          "f.jsonl:1: \"text\" is empty (2 of 2 records cannot be read: the same in line 2)");
}

TEST_CASE("a record that does not pass the test is a bad one") {
  const record_test test = [](const text_record& r) {
    if (r.text == "b") throw fault_error{fault_code::bad_input, "it is b"};
  };
  CHECK_THAT(refusal("{\"text\": \"a\"}\n{\"text\": \"b\"}\n", {.test = test}), Contains("f.jsonl:2: it is b (1 of 2"));
}

TEST_CASE("files without a record are refused") {
  CHECK_THAT(refusal(""), Contains("is empty"));
  CHECK_THAT(refusal("\n \n"), Contains("has no record"));
}

TEST_CASE("Parquet files and conversations are refused with what to do") {
  CHECK_THAT(refusal("PAR1\x15\x04"),
             Contains("f.jsonl: is a Parquet file") && Contains("parquet_to_jsonl.py") && Contains("--output f.jsonl"));
  CHECK_THAT(refusal("{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}"),
             Contains("f.jsonl:1: there is no \"text\", but \"messages\"") && Contains("kind = \"chat\""));
  CHECK_THAT(refusal("{\"conversations\": []}"), Contains("kind = \"chat\""));
  CHECK(refusal("{\"instruction\": \"a\", \"output\": \"b\"}") ==
        "f.jsonl:1: there is no \"text\", but \"instruction\" and \"output\": write kind = \"alpaca\" in [data.NAME]");
  CHECK_THAT(refusal("{\"prompt\": \"a\", \"completion\": \"b\"}"), Contains("kind = \"prompt-completion\""));
  CHECK(refusal("{\"text\": \"a\", \"messages\": []}") == "");
}

TEST_CASE("prompts and answers that are lists of messages are refused with the way to a conversation") {
  const std::string talk = R"({"prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant"}]})";
  CHECK(refusal(talk, {.prompt = "prompt", .text = "completion"}) ==
        "f.jsonl:1: \"prompt\" is a list of messages, a text is expected; make one conversation of both, which kind = "
        "\"chat\" reads with loss_on = \"last\": jq -c '{messages: (.prompt + .completion)}'");
}

TEST_CASE("true and false are labels, and whole numbers are integers however they are written") {
  const temporary_folder folder;
  const std::string lines = R"({"text": "a", "l": true}
{"text": "a", "l": false}
{"text": "a", "l": 1.0}
{"text": "a", "l": 1}
{"text": "a", "l": -0.0}
{"text": "a", "l": 3e2}
)";
  const jsonl_records r{folder.write("f", lines), {.label = "l"}};
  CHECK(r.record(0).label == class_label{"true"});
  CHECK(r.record(1).label == class_label{"false"});
  CHECK(r.record(2).label == r.record(3).label);
  CHECK(r.record(4).label == class_label{std::int64_t{0}});
  CHECK(r.record(5).label == class_label{std::int64_t{300}});
}

}  // namespace jsonl_records_test
