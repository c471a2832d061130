#include "models/data/head_labels.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/data/labels_in_lines.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

using texts = std::vector<std::string>;

class_label number(std::int64_t i) { return i; }

class_names named_by(const texts& head, const std::vector<class_label>& labels) {
  return {{}, labels_in_lines(labels), head};
}

std::string head_refusal(const texts& head, const std::vector<class_label>& labels) {
  try {
    named_by(head, labels);
    return "";
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
}

}  // namespace

TEST_CASE("labels that are the names of a head's classes are these classes, those without a sample too") {
  const class_names by_name = named_by({"positive", "none", "negative"}, {"negative", "positive"});
  CHECK(by_name.find("positive") == 0);
  CHECK(by_name.find("negative") == 2);
  CHECK(by_name.names() == texts{"positive", "none", "negative"});
  const class_names stars = named_by({"1", "2", "3", "4", "5"}, {number(1), number(2), number(3)});
  CHECK(stars.find(number(1)) == 0);
  CHECK(stars.find(number(5)) == 4);
  CHECK(named_by({"true", "false"}, {"false", "true"}).find("true") == 0);
}

TEST_CASE("labels that are numbers of a head's classes are these classes, and keep the names of the head") {
  for (const texts& head : {texts{"bad", "fair", "good"}, texts{"LABEL_0", "LABEL_1", "LABEL_2"}}) {
    const class_names by_number = named_by(head, {number(2), number(0)});
    CHECK(by_number.size() == 3);
    CHECK(by_number.find(number(2)) == 2);
    CHECK(by_number.names() == head);
  }
  CHECK(named_by({"bad", "good"}, {"1", "0"}).find("1") == 1);
  const class_names given{{number(0), number(1)}, labels_in_lines({number(1)}), {"bad", "good"}};
  CHECK(given.names() == texts{"bad", "good"});
}

TEST_CASE("a head's default names say nothing, but are names") {
  texts head;
  std::vector<class_label> labels;
  for (int i = 0; i < 12; ++i) labels.emplace_back(head.emplace_back("LABEL_" + std::to_string(i)));
  CHECK(named_by(head, labels).find("LABEL_2") == 2);  // "LABEL_10" is before it in the dictionary
  const class_names sorted = named_by({"LABEL_0", "LABEL_1"}, {"pos", "neg"});
  CHECK(sorted.find("neg") == 0);
  CHECK(sorted.names() == texts{"neg", "pos"});
}

TEST_CASE("labels that a head with names does not have are refused with what can be done") {
  const std::string other = head_refusal({"bad", "good"}, {"good", "fair", "bad"});
  CHECK_THAT(other,
             Contains("f:2: the label \"fair\" is none of the 2 classes of the model's head: \"bad\", \"good\""));
  CHECK_THAT(other, Contains("labels = [...]") && Contains("head = \"classification\""));
  CHECK_THAT(head_refusal({"bad", "good"}, {number(1), number(2)}), Contains("f:2: the label 2 is none"));
  CHECK_THAT(head_refusal({"bad", "good"}, {"bad", number(1)}), Contains("f:2: the label 1 is none"));
  CHECK_THAT(head_refusal({"bad", "good"}, {"Bad", "Good"}), Contains("f:1: the label \"Bad\" is none"));
  CHECK_THAT(head_refusal({"bad", "good"}, {number(0), number(1), number(-1)}),
             Contains("f:3: the label -1 is beside 0"));
  const std::string forged = head_refusal({"bad", "good"}, {"x\nhydra: all is well" + std::string(1'000'000, 'y')});
  CHECK_THAT(forged, Contains(R"(f:1: the label "x\nhydra: all is well)"));
  CHECK(forged.size() < 2000);
  CHECK_NOTHROW(class_names({"Bad", "Good"}, labels_in_lines({"Bad", "Good"}), {"bad", "good"}));
}

TEST_CASE("a label that is the name of two classes is refused, the other classes are found") {
  const texts birds{"crane", "lift", "crane"};
  CHECK(named_by(birds, {"lift"}).find("lift") == 1);
  CHECK_THAT(head_refusal(birds, {"lift", "crane"}), Contains("f:2: the label \"crane\" is the name of 2 classes"));
  CHECK(named_by(birds, {number(0), number(2)}).find(number(2)) == 2);
}
