#include "models/data/chat_template.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/data/bracketed.hpp"
#include "tests/models/data/letter_tokenizer.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <span>

using namespace hydra;
using Catch::Matchers::Contains;

/// Has the tokens of every template, or only those of which it is told.

namespace chat_template_test {

class marking_tokenizer final : public test::letter_tokenizer {
 public:
  explicit marking_tokenizer(bool begins = true, bool ends = true, bool others = true) : others_(others) {
    if (begins) special_.begin_of_text = 1;
    special_.end_of_text = ends ? std::optional<std::uint32_t>{2} : std::nullopt;
  }
  std::string decode(std::span<const std::uint32_t> ids) const override { return ids[0] == 1 ? "<s>" : "</s>"; }
  std::optional<std::uint32_t> id_of(std::string_view) const override {
    return others_ ? std::optional<std::uint32_t>{3} : std::nullopt;
  }
  special_tokens special() const override { return special_; }

 private:
  special_tokens special_{};
  bool others_;
};

const conversation template_talk{
    {"system", "Be kind."}, {"user", " Hi "}, {"assistant", "Hello!\n"}, {"user", "Bye"}, {"assistant", "Ciao"}};

/// Answers are in brackets.
std::string written(const template_choice& choice, const conversation& c = template_talk) {
  return test::bracketed(chat_template{choice, marking_tokenizer{}}.render(c));
}

TEST_CASE("a conversation is written as its model's template does") {
  CHECK(written({"chatml"}) ==
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
        "<|im_start|>assistant\n[Hello!\n<|im_end|>]\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n[Ciao<|"
        "im_end|>]\n");
  CHECK(written({"qwen"}) == written({"chatml"}));
  CHECK(written({"llama-3"}) ==
        "<s><|start_header_id|>system<|end_header_id|>\n\nBe "
        "kind.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n[Hello!<|eot_id|>]<|start_header_id|>user<|end_header_id|>"
        "\n\nBye<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n[Ciao<|eot_id|>]");
  CHECK(written({"mistral"}) == "<s> [INST] Be kind.\n\n Hi  [/INST][ Hello!\n</s>] [INST] Bye [/INST][ Ciao</s>]");
  CHECK(written({"gemma"}) ==
        "<s><start_of_turn>user\nBe kind.\n\nHi<end_of_turn>\n<start_of_turn>model\n[Hello!<end_of_turn>]\n"
        "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n[Ciao<end_of_turn>]\n");
}

TEST_CASE("Qwen's own system message is written where there is none") {
  CHECK_THAT(written({"qwen"}, {{"user", "Hi"}, {"assistant", "Yes"}}),
             Catch::Matchers::StartsWith("<|im_start|>system\nYou are Qwen, created by Alibaba Cloud."));
}

TEST_CASE("a template may be given as what is written around each role's messages") {
  const template_choice own{.roles = {{"user", {"Q: ", "\n"}}, {"assistant", {"A: ", "."}}}};
  CHECK(written(own, {{"user", "Hi"}, {"assistant", "Yes"}}) == "Q: Hi\nA: [Yes.]");
  CHECK_THROWS_WITH(written(own), Contains("message 1 is by \"system\"") && Contains("has no prefix and suffix"));
}

TEST_CASE("conversations that a template cannot write are refused") {
  for (const char* name : {"mistral", "gemma"}) {
    CHECK_THROWS_WITH(written({name}, {{"assistant", "Hi"}}),
                      Contains("message 1 is by \"assistant\"") && Contains("alternate"));
    CHECK_THROWS_WITH(written({name}, {{"user", "a"}, {"user", "b"}}), Contains("message 2 is by \"user\""));
    CHECK_THROWS_WITH(written({name}, {{"user", "a"}, {"system", "b"}}), Contains("message 2 is by \"system\""));
  }
  for (const char* name : {"chatml", "llama-3", "qwen"})
    CHECK_THROWS_WITH(written({name}, {{"usr", "a"}}),
                      Contains(std::string{"the template "} + name + " has system, user, assistant"));
}

TEST_CASE("unknown templates, and tokenizers without a template's tokens are refused") {
  CHECK_THROWS_WITH(chat_template({"lama-3"}, marking_tokenizer{}),
                    Contains("no template \"lama-3\"; did you mean \"llama-3\""));
  CHECK_THROWS_WITH(chat_template({"gemma"}, marking_tokenizer(false)),
                    Contains("a begin-of-text token, which tokenizer of letters does not have"));
  CHECK_THROWS_WITH(chat_template({"mistral"}, marking_tokenizer(true, false)), Contains("an end-of-text token"));
  CHECK_THROWS_WITH(chat_template({"qwen"}, marking_tokenizer(true, true, false)),
                    Contains("\"<|im_start|>\" and \"<|im_end|>\", which tokenizer of letters does not have") &&
                        Contains("chain = { from = \"...\", tokens = [\"<|im_start|>\", \"<|im_end|>\"] }"));
}

}  // namespace chat_template_test
