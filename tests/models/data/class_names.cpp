#include "models/data/class_names.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/data/labels_in_lines.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const class_label ten = std::int64_t{10}, two = std::int64_t{2}, ant = std::string{"ant"}, bee = std::string{"bee"};

}  // namespace

TEST_CASE("classes are the labels in their order: numbers as numbers, before texts") {
  const class_names names{{}, labels_in_lines({bee, ten, ant, two})};
  CHECK(names.size() == 4);
  CHECK(names.find(two) == 0);
  CHECK(names.find(ten) == 1);
  CHECK(names.find(ant) == 2);
  CHECK(names.find(bee) == 3);
  CHECK(names.find(std::string{"2"}) == -1);
}

TEST_CASE("names of classes are the labels as they are, without quotes; no two are the same") {
  const class_names names{{}, labels_in_lines({bee, two, ant})};
  CHECK(names.names() == std::vector<std::string>{"2", "ant", "bee"});
  const class_names alike{{two, std::string{"2"}, std::string{"10"}}, {}};
  CHECK(alike.names() == std::vector<std::string>{"2", "\"2\"", "10"});
}

TEST_CASE("given labels are classes in the given order") {
  const class_names names{{bee, ant}, labels_in_lines({ant})};
  CHECK(names.find(bee) == 0);
  CHECK(names.find(ant) == 1);
}

TEST_CASE("a label that is not known is refused with its line") {
  const class_names names{{bee, ant}, {}};
  CHECK_NOTHROW(names.check(labels_in_lines({ant})));
  CHECK_THROWS_WITH(names.check({{ant, {"v.csv", 1}}, {two, {"v.csv", 7}}}),
                    Contains("v.csv:7: the label 2 is not known; known are \"ant\", \"bee\""));
}

TEST_CASE("a single class and a label given twice are refused") {
  CHECK_THROWS_WITH((class_names{{}, {{ant, {"t.jsonl", 1}}}}), Contains("t.jsonl has 1 different labels"));
  CHECK_THROWS_WITH((class_names{{ant, bee, ant}, {}}), Contains("\"ant\" is given twice"));
}

TEST_CASE("a text of digits is a number") {
  CHECK(label_from("-7") == class_label{std::int64_t{-7}});
  for (const char* text : {"07", "-0", "+7", "99999999999999999999"})
    CHECK(label_from(text) == class_label{std::string{text}});
  CHECK(label_from("7a") == class_label{std::string{"7a"}});
  CHECK(label_from("") == class_label{std::string{}});
}

TEST_CASE("what is most often no class is one only where the user says so") {
  const class_label none = std::int64_t{-1}, zero = std::int64_t{0}, one = std::int64_t{1};
  const auto refusal = [](const std::vector<class_label>& labels) {
    try {
      class_names{{}, labels_in_lines(labels)};
      return std::string{};
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::bad_input);
      return std::string{e.what()};
    }
  };
  CHECK_THAT(refusal({ant, std::string{}, bee}), Contains("f:2: the label is empty") && Contains("`labels`"));
  CHECK_THAT(refusal({zero, one, none}), Contains("f:3: the label -1 is beside 0") && Contains("leave them out"));
  CHECK_THAT(refusal({zero, std::int64_t{-100}}), Contains("f:2: the label -100"));
  CHECK_THAT(refusal({one, std::string{"1"}}), Contains("f:2: the label \"1\" is a text, and 1 of f:1 a number"));
  CHECK_THAT(refusal({zero, std::string{"0.0"}}), Contains("f:2: the label \"0.0\" is a text"));
  CHECK(refusal({none, one}) == "");
  CHECK(refusal({two, std::string{"2.5"}, std::string{"10"}, std::string{"nan"}}) == "");
  CHECK(class_names{{none, zero, one}, labels_in_lines({zero, one, none})}.find(none) == 0);
  CHECK(class_names{{one, std::string{"1"}}, labels_in_lines({one, std::string{"1"}})}.find(std::string{"1"}) == 1);
}

TEST_CASE("classes without a sample to train on are named") {
  CHECK(class_names{{bee, ant}, labels_in_lines({ant, bee})}.notes(labels_in_lines({ant, bee}), "f").empty());
  CHECK(class_names{{bee, ten, ant}, {}}.notes(labels_in_lines({ant}), "jsonl f") ==
        std::vector<std::string>{"jsonl f: 2 of the 3 classes have no sample to train on: \"bee\", \"10\""});
}

TEST_CASE("two classes that differ only in the case of letters are named: they may be meant to be one") {
  const class_label pos = std::string{"pos"}, capital = std::string{"Pos"};
  const label_census found = labels_in_lines({pos, capital, ten});
  const std::vector<std::string> notes = class_names{{}, found}.notes(found, "csv f");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             Contains("csv f: \"Pos\" and \"pos\" are two classes, though they differ only in the case of letters"));
}
