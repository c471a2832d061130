#include "models/data/file_looks.hpp"

#include "models/data/data_catalog.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const std::string two_objects = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";

sample_request classes_of_texts() { return {.context = 5, .form = sample_form::labelled}; }

data_description table(const std::filesystem::path& file) {
  return csv({.train = file, .target = "mood", .text = "what"});
}

}  // namespace

TEST_CASE("a text that is JSON lines or a table is learnt with a note that names the kind for its records") {
  const temporary_folder folder;
  const auto notes = [&](const char* name, const std::string& content) {
    return open_data(text(folder.write(name, content)), 4)->notes();
  };
  CHECK_THAT(notes("a.txt", two_objects).at(0),
             Contains("a.txt: looks like JSON lines") && Contains("kind = \"jsonl\""));
  CHECK_THAT(notes("a.csv", "what,mood\none,good\n").at(0), Contains("kind = \"csv\", with text = \"COLUMN\""));
  CHECK_THAT(notes("a.json", "[\n  {\"text\": \"one\"}\n]").at(0),
             Contains("a.json: looks like a JSON array of records") && Contains("kind = \"jsonl\""));
  CHECK(notes("b.txt", "{ is a brace\n").empty());
  CHECK(notes("d.txt", "[1] as a note\n").empty());
  CHECK(notes("c.txt", "one, two\nthree, four\n").empty());
}

TEST_CASE("JSON lines given as a table, and a table given as JSON lines, are refused with the kind to write") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(open_data(table(folder.write("a.csv", two_objects)), classes_of_texts()),
                    Contains("a.csv: looks like JSON lines") && Contains("kind = \"jsonl\" in [data.NAME]"));
  CHECK_THROWS_WITH(open_data(table(folder.write("a.csv", "[{\"text\": \"one\"}]")), classes_of_texts()),
                    Contains("a.csv: looks like a JSON array of records") && Contains("kind = \"jsonl\""));
  const auto given_as_lines = [&](const char* name, const std::string& content) {
    return open_data(jsonl({.train = folder.write(name, content)}), 5);
  };
  CHECK_THROWS_WITH(given_as_lines("a.txt", "what,mood\none,good\n"),
                    Contains("a.txt: looks like a table") && Contains("kind = \"csv\" in [data.NAME]"));
  CHECK_THROWS_WITH(given_as_lines("b.txt", "what;mood\none, two;good\n"),
                    Contains("kind = \"csv\" and separator = \";\" in [data.NAME]"));
  CHECK_THROWS_WITH(given_as_lines("b.csv", "what\none\n"), Contains("kind = \"csv\" in [data.NAME]"));
  CHECK_THROWS_WITH(given_as_lines("c.txt", "a, b\nc, d\n" + two_objects), Contains("c.txt:1: no JSON"));
}

TEST_CASE("UTF-16 is refused by every kind of text with the way to UTF-8") {
  const temporary_folder folder;
  for (const std::string mark : {"\xFF\xFE", "\xFE\xFF"}) {
    const auto file = folder.write("a.txt", mark + std::string{"a\0b\0", 4});
    for (const data_description& data : {text(file), jsonl({.train = file}), table(file)})
      CHECK_THROWS_WITH(open_data(data, 4), Contains("a.txt: is UTF-16") && Contains("iconv -f UTF-16 -t UTF-8 ") &&
                                                Contains("> a-utf8.txt"));
  }
}

TEST_CASE("a table by another separator is refused with the separator to write") {
  const temporary_folder folder;
  const auto open = [&](const std::string& content) {
    return open_data(table(folder.write("a.csv", content)), classes_of_texts());
  };
  CHECK_THROWS_WITH(open("what;mood\none;good\n"),
                    Contains("there is no column \"what\"") && Contains("looks like one for separator = \";\""));
  CHECK_THROWS_WITH(open("what\tmood\none\tgood\n"), Contains("looks like one for separator = \"tab\""));
  CHECK_THROWS_WITH(open("\"what\";\"mood\"\n\"one\";\"good\"\n"),
                    Contains("quotes do not match") && Contains("looks like one for separator = \";\""));
  CHECK_THROWS_WITH(open("waht,mood;x\none,good\n"), Contains("there is no column \"what\"") && !Contains("separator"));
}
