#include "models/data/record_encoding.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/letter_tokenizer.hpp"

#include <catch2/catch.hpp>

#include <optional>

#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Joins two equal letters in a row, "aa" -> 'A', as a byte-pair encoding would, also across the pieces of a template.
class joining_tokenizer final : public letter_tokenizer {
 public:
  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const override {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool twice = i + 1 < text.size() && text[i] == text[i + 1] && text[i] >= 'a' && text[i] <= 'z';
      ids.push_back(first_byte + static_cast<unsigned char>(twice ? text[i] - 'a' + 'A' : text[i]));
      i += twice ? 1 : 0;
    }
  }
};

const template_choice plain{.roles = {{"system", {"S", "."}}, {"user", {"U", "."}}, {"assistant", {"A", "."}}}};

struct how {
  chat_loss loss = chat_loss::assistant;
  std::optional<std::size_t> window = 100;
  std::shared_ptr<const tokenizer> by = std::make_shared<letter_tokenizer>(letter_tokenizer::plain());
  template_choice format = plain;
};

/// The text of the tokens; below it '^' where a token has a loss.
std::vector<std::string> encoded(const conversation& c, const how& h = {}, bool* shortened = nullptr) {
  std::vector<std::string> lines(2);
  const auto encoding = chat_encoding(h.by, {.format = h.format, .loss = h.loss, .window = h.window});
  encoding.encode({.turns = c}, [&](std::span<const record_word> words) {
    for (const record_word w : words) {
      lines[0] += static_cast<char>((w & ~counted_word) - letter_tokenizer::first_byte);
      lines[1] += lines[0].size() > 1 && (w & counted_word) != 0 ? '^' : ' ';
    }
    if (shortened) *shortened = (words.front() & shortened_record) != 0;
  });
  return lines;
}

using lines = std::vector<std::string>;
const conversation talk{{"system", "s"}, {"user", "ab"}, {"assistant", "cd"}, {"user", "ef"}, {"assistant", "gh"}};

}  // namespace

TEST_CASE("the loss is on the assistant's messages, the last of them, or on every token but the first") {
  CHECK(encoded(talk) == lines{"Ss.Uab.Acd.Uef.Agh.",  //
                               "        ^^^     ^^^"});
  CHECK(encoded(talk, {.loss = chat_loss::last}) == lines{"Ss.Uab.Acd.Uef.Agh.",  //
                                                          "                ^^^"});
  CHECK(encoded(talk, {.loss = chat_loss::all}) == lines{"Ss.Uab.Acd.Uef.Agh.",  //
                                                         " ^^^^^^^^^^^^^^^^^^"});
}

TEST_CASE("an answer that is not to be learnt has no loss, and does not count as the last one") {
  conversation c = talk;
  c[4].learnt = false;
  for (const chat_loss loss : {chat_loss::assistant, chat_loss::last})
    CHECK(encoded(c, {.loss = loss}) == lines{"Ss.Uab.Acd.Uef.Agh.",  //
                                              "        ^^^        "});
  CHECK(encoded(c, {.window = 17})[0] == "Ss.Uab.Acd.Uef.Agh");  // without its first turn nothing would have a loss
  c[0].learnt = c[1].learnt = c[2].learnt = false;
  CHECK_THROWS_WITH(encoded(c), Contains("no message of the assistant is to be learnt"));
  CHECK_THROWS_WITH(encoded(c, {.loss = chat_loss::all}),
                    Contains("message 1 is by \"system\" and is marked not to be learnt"));
  c[1].learnt = c[2].learnt = true;
  CHECK_THROWS_WITH(encoded(c), Contains("message 2 is by \"user\" and is marked to be learnt"));
}

TEST_CASE("an answer without text, of which only the end would be learnt, is refused as an empty text is") {
  conversation c = talk;
  c[2].content = "";
  const auto tested = [&](chat_loss loss) { chat_test(plain, letter_tokenizer::plain(), loss)({.turns = c}); };
  CHECK_THROWS_WITH(encoded(c), Contains("message 3 is the assistant's and is empty"));
  CHECK_THROWS_WITH(tested(chat_loss::assistant), Contains("message 3 is the assistant's and is empty"));
  CHECK_NOTHROW(tested(chat_loss::last));
  CHECK_NOTHROW(tested(chat_loss::all));
  c[2].learnt = false;
  CHECK(encoded(c) == lines{"Ss.Uab.A.Uef.Agh.",  //
                            "              ^^^"});
  c[4].content = "";
  CHECK_THROWS_WITH(tested(chat_loss::last), Contains("message 5 is the assistant's and is empty"));
}

TEST_CASE("in every named template an answer that is not to be learnt is not a piece with a loss") {
  class any_token final : public letter_tokenizer {
   public:
    any_token() : letter_tokenizer(letter_tokenizer::plain()) {}
    std::optional<std::uint32_t> id_of(std::string_view) const override { return 1; }
    std::string decode(std::span<const std::uint32_t>) const override { return "<s>"; }
    special_tokens special() const override { return {.begin_of_text = 300, .end_of_text = 301}; }
  };
  for (const std::string& name : chat_template::names()) {
    const chat_template writer{{.name = name}, any_token{}};
    for (const chat_piece& p : writer.render({{"user", "q"}, {"assistant", "a", false}})) CHECK_FALSE(p.answer);
  }
}

TEST_CASE("a tokenizer that adds a token before a text has the same losses") {
  const auto by = std::make_shared<letter_tokenizer>(letter_tokenizer::with_prefix());
  CHECK(encoded(talk, {.by = by}) == lines{" Ss.Uab.Acd.Uef.Agh.",  //
                                           "         ^^^     ^^^"});
}

TEST_CASE("a conversation follows what the tokenizer puts before a text, once, and a long one keeps it") {
  const auto first = letter_tokenizer::first_byte;
  const auto by = std::make_shared<letter_tokenizer>(letter_tokenizer::framed({first + '^'}));
  CHECK(encoded(talk, {.by = by}) == lines{"^Ss.Uab.Acd.Uef.Agh.",  //
                                           "         ^^^     ^^^"});
  CHECK(encoded(talk, {.loss = chat_loss::all, .by = by})[1] == " ^^^^^^^^^^^^^^^^^^^");
  const template_choice written{.roles = {{"user", {"^U", "."}}, {"assistant", {"A", "."}}}};
  const conversation one{{"user", "0123456789"}, {"assistant", "abcdefgh"}};
  CHECK(encoded(one, {.by = by, .format = written})[0] == "^U0123456789.Aabcdefgh.");
  CHECK(encoded(one, {.window = 17, .by = by}) == lines{"^456789.Aabcdefgh.",  //
                                                        "         ^^^^^^^^^"});
}

TEST_CASE("a conversation is tokenised as a whole, and a token that reaches into an answer has a loss") {
  const template_choice close{.roles = {{"user", {"u", ""}}, {"assistant", {"a", ""}}}};
  const how h{.by = std::make_shared<joining_tokenizer>(), .format = close};
  CHECK(encoded({{"user", "x"}, {"assistant", "abc"}}, h) == lines{"uxAbc",  //
                                                                   "  ^^^"});
  CHECK(encoded({{"user", "x"}, {"assistant", "bu"}, {"user", "y"}}, h) == lines{"uxabUy",  //
                                                                                 "   ^^ "});
}

TEST_CASE("a long conversation loses its first turns, but not its system message") {
  CHECK(encoded(talk, {.window = 17})[0] == "Ss.Uef.Agh.");
  CHECK(encoded(talk, {.window = 18})[0] == "Ss.Uab.Acd.Uef.Agh.");
  const conversation more{{"user", "ab"}, {"user", "x"}, {"assistant", "cd"}, {"user", "ef"}, {"assistant", "gh"}};
  CHECK(encoded(more, {.window = 16})[0] == "Ux.Acd.Uef.Agh.");
}

TEST_CASE("a turn that is too long loses the start of its question, then the end of its answer") {
  const conversation one{{"user", "0123456789"}, {"assistant", "abcdefgh"}};
  CHECK(encoded(one, {.window = 17}) == lines{"3456789.Aabcdefgh.",  //
                                              "         ^^^^^^^^^"});
  CHECK(encoded(one, {.window = 7}) == lines{"89.Aabcd",  //
                                             "    ^^^^"});
}

TEST_CASE("a turn is kept if no answer would be left, whatever follows it") {
  const conversation thanked{{"user", "ab"}, {"assistant", "cd"}, {"user", "thanks for all of this"}};
  const lines kept{"Uab.Acd.Uthanks", "     ^^^       "};
  for (const chat_loss loss : {chat_loss::assistant, chat_loss::last})
    CHECK(encoded(thanked, {.loss = loss, .window = 14}) == kept);
  CHECK(encoded(thanked, {.loss = chat_loss::all, .window = 14})[0] == "Uthanks for all");
}

TEST_CASE("a tokenizer that does not have a template's tokens is refused") {
  CHECK_THROWS_WITH(
      encoded(talk, {.format = {"chatml"}}),
      Contains("chatml writes \"<|im_start|>\" and \"<|im_end|>\", which tokenizer of letters does not have"));
}

TEST_CASE("a conversation without an answer has no loss and is refused, unless every token has one") {
  CHECK_THROWS_WITH(encoded({{"user", "ab"}}), Contains("no message of the assistant"));
  CHECK(encoded({{"user", "ab"}}, {.loss = chat_loss::all})[1] == " ^^^");
}

TEST_CASE("a conversation that has lost tokens is marked; without a window it loses none") {
  bool shortened = true;
  encoded(talk, {.window = 18}, &shortened);
  CHECK_FALSE(shortened);
  CHECK(encoded(talk, {.window = std::nullopt}, &shortened)[0] == "Ss.Uab.Acd.Uef.Agh.");
  CHECK_FALSE(shortened);
  CHECK(encoded(talk, {.window = 17}, &shortened)[0] == "Ss.Uef.Agh.");
  CHECK(shortened);
  encoded({{"user", "abcdefgh"}, {"assistant", "ij"}}, {.window = 6}, &shortened);
  CHECK(shortened);
}
