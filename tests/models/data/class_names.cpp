#include "models/data/class_names.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

const class_label ten = std::int64_t{10}, two = std::int64_t{2}, ant = std::string{"ant"}, bee = std::string{"bee"};

}  // namespace

TEST_CASE("classes are the labels in their order: numbers as numbers, before texts") {
  const class_names names{{}, {{bee, 1}, {ten, 2}, {ant, 3}, {two, 4}}, "f"};
  CHECK(names.size() == 4);
  CHECK(names.find(two) == 0);
  CHECK(names.find(ten) == 1);
  CHECK(names.find(ant) == 2);
  CHECK(names.find(bee) == 3);
  CHECK(names.find(std::string{"2"}) == -1);
}

TEST_CASE("names of classes are the labels as they are, without quotes; no two are the same") {
  const class_names names{{}, {{bee, 1}, {two, 2}, {ant, 3}}, "f"};
  CHECK(names.names() == std::vector<std::string>{"2", "ant", "bee"});
  const class_names alike{{two, std::string{"2"}, std::string{"10"}}, {}, "f"};
  CHECK(alike.names() == std::vector<std::string>{"2", "\"2\"", "10"});
}

TEST_CASE("given labels are classes in the given order") {
  const class_names names{{bee, ant}, {{ant, 1}}, "f"};
  CHECK(names.find(bee) == 0);
  CHECK(names.find(ant) == 1);
}

TEST_CASE("a label that is not known is refused with its line") {
  const class_names names{{bee, ant}, {}, "f"};
  CHECK_NOTHROW(names.check({{ant, 1}}, "v.csv"));
  CHECK_THROWS_WITH(names.check({{ant, 1}, {two, 7}}, "v.csv"),
                    Contains("v.csv:7: the label 2 is not known; known are \"ant\", \"bee\""));
}

TEST_CASE("a single class and a label given twice are refused") {
  CHECK_THROWS_WITH((class_names{{}, {{ant, 1}}, "t.jsonl"}), Contains("t.jsonl has 1 different labels"));
  CHECK_THROWS_WITH((class_names{{ant, bee, ant}, {}, "f"}), Contains("\"ant\" is given twice"));
}

TEST_CASE("a text of digits is a number") {
  CHECK(label_from("-7") == class_label{std::int64_t{-7}});
  for (const char* text : {"07", "-0", "+7", "99999999999999999999"})
    CHECK(label_from(text) == class_label{std::string{text}});
  CHECK(label_from("7a") == class_label{std::string{"7a"}});
  CHECK(label_from("") == class_label{std::string{}});
}
