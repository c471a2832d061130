#include "models/data/find_kind.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace find_kind_test {

found_kind kind_of(const temporary_folder& folder, const char* name, const std::string& text) {
  return find_kind({folder.write(name, text)});
}

TEST_CASE("files are read by the kind of data that their first records look like") {
  const temporary_folder folder;
  CHECK(kind_of(folder, "a.jsonl", R"({"messages": [{"role": "user", "content": "a"}]})").kind == "chat");
  CHECK(kind_of(folder, "b.json", R"([{"conversations": [{"from": "human", "value": "a"}]}])").kind == "chat");
  CHECK(kind_of(folder, "c.json", "[\n {\"instruction\": \"a\", \"input\": \"\", \"output\": \"b\"}\n]").kind ==
        "alpaca");
  CHECK(kind_of(folder, "d.txt", R"({"prompt": "a", "completion": "b"})").kind == "prompt-completion");
  CHECK(kind_of(folder, "e.txt", "A text.\n[1] and more\n").kind == "text");
  CHECK(find_kind({folder.path()}).kind == "images");
}

TEST_CASE("texts, and prompts with answers, are found by the usual names of their fields") {
  const temporary_folder folder;
  const found_kind texts = kind_of(folder, "a.jsonl", R"({"text": "a", "label": 1})");
  CHECK(texts.kind == "jsonl");
  CHECK(texts.label == "label");
  CHECK(texts.answer.empty());
  const found_kind answers = kind_of(folder, "b.jsonl", R"({"question": "a", "answer": "b"})");
  CHECK(answers.kind == "jsonl");
  CHECK(answers.prompt == "{question}\n");
  CHECK(answers.answer == "answer");
  CHECK(kind_of(folder, "c.jsonl", R"({"instruction": "a", "context": "", "response": "b"})").prompt ==
        "{instruction}\n{context?}\n");
  CHECK_THROWS_WITH(
      kind_of(folder, "d.jsonl", R"({"q": "a", "a": "b"})"),
      Contains("d.jsonl:1: which fields are learnt is not known of \"a\", \"q\"") && Contains("kind = \"jsonl\""));
}

TEST_CASE("of preferences it is told that they are not trained, and what is learnt of them") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(kind_of(folder, "a.jsonl", R"({"prompt": "a", "chosen": "b", "rejected": "c"})"),
                    Contains("a.jsonl:1: the fields \"chosen\", \"prompt\", \"rejected\" are preferences; there is no "
                             "training on preferences (DPO); kind = \"jsonl\" learns chosen answers") &&
                        Contains("prompt = \"{prompt}\" and answer = \"chosen\""));
}

TEST_CASE("tables are found by their names, their separator by the first lines") {
  const temporary_folder folder;
  const found_kind two = kind_of(folder, "a.csv", "review;label\ngood, really;1\n");
  CHECK(two.kind == "csv");
  CHECK(two.text == "review");
  CHECK(two.label == "label");
  CHECK(two.separator == ';');
  CHECK(kind_of(folder, "b.csv", "what\none\n").text == "what");
  CHECK_THROWS_WITH(kind_of(folder, "c.csv", "x,y\n1,2\n"),
                    Contains("which column has the texts is not known of \"x\", \"y\""));
  CHECK_THROWS_WITH(kind_of(folder, "d.csv", "prompt,completion\na,b\n"),
                    Contains("of a table one column of texts is learnt") &&
                        Contains("JSON lines, {\"prompt\": \"...\", \"completion\": \"...\"} on each"));
}

TEST_CASE("records of two kinds, and several files of a kind that reads one, are refused") {
  const temporary_folder folder;
  const std::string talk = R"({"messages": [{"role": "user", "content": "a"}]})", text = R"({"text": "a"})";
  CHECK_THROWS_WITH(kind_of(folder, "a.jsonl", talk + "\n" + text + "\n"),
                    Contains("a.jsonl:2: looks like data of kind = \"jsonl\", the first record like \"chat\""));
  CHECK_THROWS_WITH(find_kind({folder.write("b.jsonl", talk), folder.write("c.jsonl", text)}),
                    Contains("c.jsonl: looks like data of kind = \"jsonl\"") && Contains("b.jsonl like \"chat\""));
  CHECK_THROWS_WITH(find_kind({folder.write("d.txt", "a"), folder.write("e.txt", "b")}), Contains("2 are given"));
  CHECK(find_kind({folder.write("b.jsonl", talk), folder.write("c.jsonl", talk)}).kind == "chat");
  CHECK_THROWS_WITH(kind_of(folder, "f.jsonl", "{\"text\": \n"), Contains("f.jsonl:1: no JSON"));
  CHECK_THROWS_WITH(kind_of(folder, "g.parquet", "PAR1"), Contains("is a Parquet file"));
}

}  // namespace find_kind_test
