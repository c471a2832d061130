#include "models/data/read_conversation.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using Catch::Matchers::Contains;

namespace read_conversation_test {

const std::filesystem::path file = "f.jsonl";
const std::string asked = R"({"role": "user", "content": "q"}, )";

conversation read(const std::string& record) { return read_conversation(parse_json(record), line_site{file, 7}); }

/// A conversation of a question and this message.
conversation with(const std::string& message) { return read("{\"messages\": [" + asked + message + "]}"); }

std::string refusal(const std::string& record) {
  try {
    read(record);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

std::string refusal_of(const std::string& message) { return refusal("{\"messages\": [" + asked + message + "]}"); }

std::vector<std::string> unread(const std::string& record) {
  unread_fields all;
  add_unread(parse_json(record), all);
  return all.notes(file);
}

TEST_CASE("a message is learnt or not as its weight or train says") {
  const auto learnt = [](const std::string& key) {
    return with(R"({"role": "assistant", "content": "a", )" + key + "}")[1].learnt;
  };
  for (const char* yes : {"\"weight\": 1", "\"weight\": 1.0", "\"train\": true", "\"train\": true, \"weight\": 1"})
    CHECK(learnt(yes) == true);
  for (const char* no :
       {"\"weight\": 0", "\"train\": false", "\"train\": false, \"weight\": 1", "\"weight\": 0, \"train\": true"})
    CHECK(learnt(no) == false);
  CHECK_FALSE(learnt("\"weight\": null").has_value());
  CHECK_THAT(refusal_of(R"({"from": "gpt", "value": "a", "weight": 0.5})"),
             Contains("f.jsonl:7: \"weight\" of message 2 is neither 1 or true"));
}

TEST_CASE("parts of type text are one content") {
  const std::string text = R"({"type": "text", "text": "a"})",
                    more = R"({"type": "text", "text": " b", "image": null})";
  CHECK(with(R"({"role": "assistant", "content": [)" + text + ", " + more + "]}")[1].content == "a b");
  for (const char* other :
       {R"({"type": "image_url", "image_url": {"url": "u"}})", "\"a\"", R"({"type": "text", "text": null})", "{}"})
    CHECK_THAT(refusal_of(R"({"role": "user", "content": [)" + text + ", " + other + "]}"),
               Contains("f.jsonl:7: \"content\" of message 2 has a part that is not {\"type\": \"text\""));
  CHECK_THAT(refusal_of(R"({"role": "assistant", "content": null})"),
             Contains("\"content\" of message 2 is not text but of type null"));
}

TEST_CASE("a text of the system beside the list is its first message") {
  const auto beside = [](const std::string& keys, const std::string& first) {
    return "{" + keys + ", \"conversations\": [" + first + R"({"from": "human", "value": "q"}]})";
  };
  const std::string own = R"({"from": "system", "value": "s"}, )";
  for (const std::string& record :
       {beside("\"system\": \"s\"", ""), beside("\"system_prompt\": \"s\"", ""), beside("\"system\": \"s\"", own),
        beside("\"system\": null", own), beside("\"system\": \"\"", own)})
    CHECK(read(record) == conversation{{"system", "s"}, {"user", "q"}});
  CHECK_THAT(refusal(beside("\"system\": \"other\"", own)), Contains("f.jsonl:7: \"system\" is another text than"));
  CHECK_THAT(refusal(beside("\"system\": 1", "")), Contains("f.jsonl:7: \"system\" is not text"));
}

TEST_CASE("reasoning apart from a content is read by each of its names") {
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    const std::string begin = std::string{R"({"messages": [{"role": "assistant", "content": "a", ")"} + key + "\": ";
    CHECK(read(begin + "\"x\"}]}").front().reasoning == "x");
    for (const char* nothing : {"null", "\"\"", "[]"}) CHECK(read(begin + nothing + "}]}").front().reasoning.empty());
    CHECK_THAT(refusal(begin + "3}]}"), Contains(std::string{"\""} + key + "\" of message 1 is not text"));
  }
}

TEST_CASE("what would change the answers is refused by name, unless it says nothing") {
  for (const char* key : {"tool_calls", "tool_call_id", "function_call", "train_detail"}) {
    const std::string begin = std::string{R"({"role": "assistant", "content": "a", ")"} + key + "\": ";
    CHECK_THAT(refusal_of(begin + "\"x\"}"), Contains(std::string{"f.jsonl:7: message 2 has \""} + key + "\"; "));
    for (const char* nothing : {"null", "\"\"", "[]", "{}", "false"}) CHECK(refusal_of(begin + nothing + "}") == "");
  }
  for (const char* key : {"tools", "functions", "image", "images", "videos", "audios"}) {
    const std::string begin = std::string{"{\""} + key + "\": ",
                      end = R"(, "messages": [{"role": "user", "content": "q"}]})";
    CHECK_THAT(refusal(begin + "[\"x\"]" + end),
               Contains(std::string{"f.jsonl:7: the conversation has \""} + key + "\"; "));
    for (const char* nothing : {"null", "\"\"", "[]", "\"[]\"", "false"}) CHECK(refusal(begin + nothing + end) == "");
  }
}

TEST_CASE("records of other kinds are refused with their keys and how to read them") {
  CHECK_THAT(refusal(R"({"instruction": "i", "input": "", "output": "o"})"),
             Contains("f.jsonl:7: there is neither \"messages\" nor \"conversations\" but \"input\", \"instruction\", "
                      "\"output\"; ") &&
                 Contains("jq -c") && Contains("kind = \"alpaca\" reads them"));
  CHECK_THAT(refusal(R"({"prompt": [], "completion": []})"), Contains("{messages: (.prompt + .completion)}") &&
                                                                 Contains("loss_on = \"last\"") &&
                                                                 Contains("kind = \"prompt-completion\""));
  CHECK_THAT(refusal(R"({"prompt": "p", "chosen": "c", "rejected": "r"})"),
             Contains("\"chosen\", \"prompt\", \"rejected\"; there is no training on preferences") &&
                 Contains("answer = \"chosen\""));
  CHECK_THAT(refusal(R"({"text": "t"})"), Contains("kind = \"jsonl\" reads texts"));
  CHECK_THAT(refusal(R"({"q": "q", "a": "a"})"), Contains("but \"a\", \"q\"; kind = \"jsonl\" reads"));
}

TEST_CASE("fields that nothing reads are named, without those that only say where a record is from") {
  const std::string messages = R"("messages": [
    {"role": "user", "content": [{"type": "text", "text": "a", "lang": "en"}]},
    {"role": "user", "content": "b", "weight": 1, "train": true, "name": "x", "id": 1, "from": "y"}])";
  CHECK(unread("{\"system\": \"s\", \"score\": 1, \"id\": 2, \"none\": null, " + messages + "}") ==
        std::vector<std::string>{"f.jsonl: fields that are not read: \"messages.content.lang\", \"messages.from\", "
                                 "\"messages.name\", \"score\""});
  CHECK(unread(R"({"id": 2, "conversations": [{"from": "gpt", "value": "v"}]})").empty());
  CHECK_THAT(unread(R"({"split": "test", "conversations": []})").at(0), Contains("\"split\""));
  CHECK(unread(R"({"messages": [{"from": "gpt", "value": "v"}], "conversations": [1]})") ==
        std::vector<std::string>{"f.jsonl: fields that are not read: \"conversations\""});
}

}  // namespace read_conversation_test
