#include "models/data/json_texts.hpp"

#include "models/data/jsonl_records.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <optional>
#include <random>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace json_texts_test {

const std::filesystem::path named = "a.json";

std::vector<std::string> texts_of(const std::string& file) {
  std::vector<std::string> all;
  json_texts{file}.each(named, [&](const json_record_text& r) {
    all.push_back(fmt::format("{} {}", r.number, r.text));
    return true;
  });
  return all;
}

std::string complaint(const std::string& file) {
  try {
    texts_of(file);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

/// The records as a parser sees them, one by one; none if the file is refused.
std::optional<json> walked(const std::string& file) {
  json all = json::array();
  try {
    json_texts{file}.each(named, [&](const json_record_text& r) {
      all.push_back(json::parse(r.text));
      return true;
    });
  } catch (const fault_error&) {
    return std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return all;
}

/// One to three characters are changed, removed or doubled.
std::string damaged(std::string text, std::mt19937_64& random) {
  constexpr std::string_view letters = "[]{},:\"\\ \n1a";
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    const std::size_t at = 1 + random() % (text.size() - 1);
    if (const auto how = random() % 3; how == 0)
      text[at] = letters[random() % letters.size()];
    else if (how == 1)
      text.erase(at, 1 + random() % 3);
    else
      text.insert(at, text.substr(random() % text.size(), 1 + random() % 9));
  }
  return text;
}

TEST_CASE("an array gives its elements, however it is laid out, and other files give their lines") {
  CHECK(texts_of("[{\"a\": 1}, {\"b\": [2, {\"c\": \"]}\\\"\"}]}]") ==
        std::vector<std::string>{"1 {\"a\": 1}", "2 {\"b\": [2, {\"c\": \"]}\\\"\"}]}"});
  CHECK(texts_of("\xEF\xBB\xBF \r\n[\n  {\n  },\n  7 , \"x\"\n]\n\n") ==
        std::vector<std::string>{"1 {\n  }", "2 7", "3 \"x\""});
  CHECK(texts_of("[]").empty());
  CHECK(texts_of("{}\n\n[]\n") == std::vector<std::string>{"1 {}", "3 []"});
  const std::string file = "[{\"a\": 1}, {\"b\": 2}]";
  const json_texts texts{file};
  CHECK(texts.is_array());
  std::size_t seen = 0;
  texts.each(named, [&](const json_record_text&) { return ++seen < 1; });
  CHECK(seen == 1);
  CHECK(texts.at(named, 11) == "{\"b\": 2}");
  CHECK(texts.number_of(named, 11) == 2);
}

TEST_CASE("an array that is broken is refused by its byte and record") {
  CHECK(complaint("[{} {}]") == "a.json: there is \"{\" at byte 4, where a comma or ] is expected after record 1");
  CHECK(complaint("[{},]") == "a.json: there is \"]\" at byte 4, where record 2 is expected");
  CHECK(complaint("[,{}]") == "a.json: there is \",\" at byte 1, where record 1 is expected");
  CHECK(complaint("[{}, {\"a\": [1}]") ==
        "a.json: there is \"}\" at byte 13, where ] of record 2, which begins at byte 5, is expected");
  CHECK(complaint("[{}, {\"a\": {}") ==
        "a.json: the file ends at byte 13, where } of record 2, which begins at byte 5, is expected");
  CHECK(complaint("[{}") == "a.json: the file ends at byte 3, where a comma or ] is expected after record 1");
  CHECK(complaint("[") == "a.json: the file ends at byte 1, where record 1 is expected");
  CHECK(complaint("[{\"a\": \"b},\n{\"a\": 1}]") ==
        "a.json: there is \"\\n\" at byte 11, where the quote that ends a text of record 1 is expected");
  CHECK_THAT(complaint("[{}]\n[{}]"), Contains("there is \"[\" at byte 5, where the array has ended"));
  CHECK(complaint("[{}, " + std::string(100'000, '[')) == "a.json: record 2: is nested more than 100 deep");
}

TEST_CASE("of a damaged array nothing is read otherwise than the parser of the whole reads it") {
  const std::string right = R"([{"a": "x, y", "b": [1, {"c": "}"}]}, {"a": "\"\\"}, {}, {"d": null}])";
  REQUIRE(walked(right) == json::parse(right));
  std::mt19937_64 random{7};
  std::size_t read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string file = damaged(right, random);
    const json whole = json::parse(file, nullptr, false);
    const auto found = walked(file);
    CAPTURE(file);
    REQUIRE(found.has_value() == !whole.is_discarded());
    if (found) REQUIRE(*found == whole);
    read += found ? 1 : 0;
  }
  CHECK(read > 100);
}

TEST_CASE("records of an array are read as lines are, and messages say which one") {
  const temporary_folder folder;
  const auto file =
      folder.write("a.json", "[{\"text\": \"one\", \"l\": 1},\n {\"text\": \"\"},\n {\"text\": \"two\", \"l\": 2}]\n");
  try {
    jsonl_records{file, {}};
    FAIL("an empty text is read");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().text == file.string() +
                                        ": record 2: \"text\" is empty (1 of 3 records cannot be read; bad_rows = "
                                        "\"leave-out\" in [data.NAME] leaves them out)");
  }
  const jsonl_records r{file, {.label = "l", .bad_rows = bad_row_rule::leave_out}};
  REQUIRE(r.size() == 2);
  CHECK(r.record(1).text == "two");
  CHECK(r.where(1) == file.string() + ": record 3");
  CHECK(r.notes() ==
        std::vector{file.string() + ": 1 of 3 records cannot be read and is left out: record 2: \"text\" is empty"});
  CHECK(to_string(r.labels().at(std::int64_t{2})) == file.string() + ": record 3");
}

TEST_CASE("what is no JSON object in an array is refused even where bad records are left out") {
  const temporary_folder folder;
  for (const auto& [text, why] :
       {std::pair{"[{\"text\": \"a\"}, {\"text\" \"b\"}]", "record 2: no JSON (byte "},
        {"[{\"text\": \"a\"}, 7]", "record 2: an object is expected, this is of type number"},
        {"[{\"text\": \"a\xFF\"}]", "record 1: is not UTF-8: byte 11 of the record is 0xff"}})
    CHECK_THROWS_WITH((jsonl_records{folder.write("a.json", text), {.bad_rows = bad_row_rule::leave_out}}),
                      Contains("a.json: ") && Contains(why));
  CHECK_THROWS_WITH((jsonl_records{folder.write("a.json", "[ ]"), {}}), Contains("a.json has no record"));
}

TEST_CASE("conversations may be in an array") {
  const temporary_folder folder;
  const auto file = folder.write("a.json", R"([
  {"id": 1, "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
  {"id": 2, "conversations": []}
])");
  CHECK_THROWS_WITH((jsonl_records{file, {.chat = true}}),
                    Contains("a.json: record 2: \"conversations\" is not a list of messages"));
  const jsonl_records r{file, {.chat = true, .bad_rows = bad_row_rule::leave_out}};
  CHECK(r.record(0).turns == conversation{{"user", "a"}, {"assistant", "b"}});
}

}  // namespace json_texts_test
