#include "models/data/answer_end.hpp"

#include "tests/models/data/special_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;
using Catch::Matchers::Contains;

namespace answer_end_test {

/// The note of a template with a tokenizer of bytes that has these tokens; empty if there is none.
std::string note_of(const template_choice& format, const std::vector<std::string>& special,
                    chat_loss loss = chat_loss::assistant) {
  const test::temporary_folder folder;
  const auto by = test::bytes_with(folder, special);
  return note_on_answer_end("talks", format, loss, *by).value_or("");
}

template_choice stored(const std::string& source) {
  return {"checkpoint", {}, stored_template{"t.jinja", source, {{"eos_token", "</s>"}}}};
}

template_choice ending(const std::string& suffix) { return {.roles = {{"assistant", {"A: ", suffix}}}}; }

const std::string turned =
    "{% for m in messages %}{{ '<|header|>' + m.role + '\n' + m.content + '<|eot_id|>\n' }}{% endfor %}";

TEST_CASE("a template's mark behind an answer that is text to the tokenizer is noted with the way to make it a token") {
  CHECK(note_of(stored(turned), {"<|header|>"}) ==
        "talks: no token ends an answer, so that `hydra generate --chat` goes on behind it: t.jinja writes "
        "\"<|eot_id|>\" behind it, which the tokenizer does not read as one special token; add it to those of the "
        "checkpoint, chain = { from = \"...\", tokens = [\"<|eot_id|>\"] }, or choose another template");
  CHECK(note_of(stored(turned), {"<|eot_id|>"}) == "");
  CHECK(note_of(stored("{% for m in messages %}{{ m.content + eos_token }}{% endfor %}"), {"</s>"}) == "");
  CHECK_THAT(note_of(stored(turned + "{{ eos_token }}"), {"</s>"}), Contains("writes \"<|eot_id|>\" behind it"));
}

TEST_CASE("a template that writes no mark behind an answer is noted") {
  for (const char* const after : {"", "\n\n"})
    CHECK_THAT(
        note_of(stored("{% for m in messages %}{{ m.content + '" + std::string{after} + "' }}{% endfor %}"), {"</s>"}),
        Contains("t.jinja writes nothing but white space behind it; choose another template"));
}

TEST_CASE("marks of what is generated that leave out the token behind it are noted, unless every token is learnt") {
  const std::string short_marks =
      "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{{ '<|eot_id|>' }}{% endfor %}";
  CHECK_THAT(note_of(stored(short_marks), {"<|eot_id|>"}),
             Contains("the {% generation %} marks of t.jinja leave out \"<|eot_id|>\" behind it"));
  CHECK(note_of(stored(short_marks), {"<|eot_id|>"}, chat_loss::all) == "");
  const std::string whole_marks =
      "{% for m in messages %}{% generation %}{{ m.content + '<|eot_id|>' }}{% endgeneration %}{% endfor %}";
  CHECK(note_of(stored(whole_marks), {"<|eot_id|>"}) == "");
  CHECK_THAT(note_of(stored(whole_marks), {}), Contains("writes \"<|eot_id|>\" behind it"));
}

TEST_CASE("the suffix of the assistant in a table is judged as a template's mark") {
  CHECK(note_of(ending("<|eot_id|>\n"), {"<|eot_id|>"}) == "");
  CHECK_THAT(note_of(ending("<|eot_id|>\n"), {}), Contains("`template` writes \"<|eot_id|>\" behind it"));
  CHECK_THAT(note_of(ending("\n"), {"</s>"}), Contains("`template` writes nothing but white space behind it"));
  CHECK_THAT(note_of(ending(".\n"), {"</s>"}), Contains("`template` writes only \".\" behind it; choose another"));
}

TEST_CASE("of a tokenizer that has no special tokens nothing is advised that needs one") {
  const auto bytes = open_tokenizer({});
  CHECK(note_on_answer_end("talks", ending("<end>"), chat_loss::assistant, *bytes) ==
        "talks: no token ends an answer, so that `hydra generate --chat` goes on behind it: tokenizer bytes has no "
        "special tokens; choose another, and a template that writes one of its special tokens behind an answer");
}

TEST_CASE("of the named templates, which are refused without their tokens, nothing is noted") {
  const std::vector<std::string> all{"<s>",
                                     "</s>",
                                     "<|im_start|>",
                                     "<|im_end|>",
                                     "<start_of_turn>",
                                     "<end_of_turn>",
                                     "<|start_header_id|>",
                                     "<|end_header_id|>",
                                     "<|eot_id|>"};
  for (const std::string& name : chat_template::names()) {
    CAPTURE(name);
    CHECK(note_of({.name = name}, all) == "");
  }
}

TEST_CASE("a template that refuses a short conversation, or leaves out what the assistant says, is noted with why") {
  CHECK_THAT(note_of(stored("{{ raise_exception('no system') }}"), {"</s>"}),
             Contains("whether a token ends an answer is not known") && Contains("no system"));
  CHECK_THAT(note_of(stored("{% for m in messages %}{% generation %}{{ eos_token }}{% endgeneration %}{% endfor %}"),
                     {"</s>"}),
             Contains("what is learnt of a short conversation lacks what the assistant says"));
}

}  // namespace answer_end_test
