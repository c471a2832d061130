#include "models/data/stored_chat.hpp"

#include "models/data/record_encoding.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/bracketed.hpp"
#include "tests/models/data/special_bytes.hpp"
#include "tests/models/tokenizers/made_sentencepiece.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Matchers::Contains;

namespace stored_chat_test {

/// Of bytes, with special tokens.
struct marked_words {
  test::temporary_folder folder;
  std::shared_ptr<const tokenizer> by = test::bytes_with(folder, {"<|turn|>", "<|end|>", "<s>", "</s>", "<|stop|>"});

  stored_chat chat(const std::string& source) const {
    return {{"t.jinja", source, {{"bos_token", "<s>"}, {"eos_token", "</s>"}}}, *by};
  }
  /// What is learnt is in brackets.
  std::string written(const std::string& source, const conversation& c) const {
    return test::bracketed(chat(source).render(c));
  }
};

const conversation stored_talk{{"user", "Hi"}, {"assistant", "Yes\n"}, {"user", "Why"}, {"assistant", "So"}};

const std::string prompted = "{% if add_generation_prompt %}{{ '<|turn|>assistant\n' }}{% endif %}";
const std::string turns =
    "{% for m in messages %}{{ '<|turn|>' + m.role + '\n' + m.content + '<|end|>\n' }}{% endfor %}" + prompted;

TEST_CASE("an answer begins where the model is asked for it, and ends with the token that ends its turn") {
  const marked_words words;
  CHECK(words.written(turns, stored_talk) ==
        "<|turn|>user\nHi<|end|>\n<|turn|>assistant\n[Yes\n<|end|>]\n<|turn|>user\nWhy<|end|>\n"
        "<|turn|>assistant\n[So<|end|>]\n");
  CHECK(words.chat(turns).prompt({{"user", "Hi"}}) == "<|turn|>user\nHi<|end|>\n<|turn|>assistant\n");
  CHECK(words.chat(turns).end_of_turn() == 1u);
}

TEST_CASE("a template without a prompt of its own has the model write all that follows the user's message") {
  const marked_words words;
  const std::string asked =
      "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}{{ '[ASK]' + m.content + '[/ASK]' }}"
      "{% else %}{{ ' ' + m.content | trim + ' ' + eos_token }}{% endif %}{% endfor %}";
  CHECK(words.written(asked, stored_talk) == "<s>[ASK]Hi[/ASK][ Yes </s>][ASK]Why[/ASK][ So </s>]");
  CHECK(words.chat(asked).end_of_turn() == 3u);
}

TEST_CASE("what ends the whole conversation is not the assistant's") {
  const marked_words words;
  const std::string ended =
      "{% for m in messages %}{{ '<|turn|>' + m.role + '\n' + m.content + '<|end|>\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|turn|>assistant\n' }}{% else %}{{ eos_token }}{% endif %}";
  CHECK(words.written(ended, stored_talk) ==
        "<|turn|>user\nHi<|end|>\n<|turn|>assistant\n[Yes\n<|end|>]\n<|turn|>user\nWhy<|end|>\n"
        "<|turn|>assistant\n[So<|end|>]\n</s>");
}

TEST_CASE("where answers end otherwise within a conversation, the last one ends with its own token") {
  const marked_words words;
  const std::string returned =
      "{% for m in messages %}{{ '<|turn|>' + m.role + '\n' + m.content }}"
      "{% if not loop.last %}{{ '<|stop|>' }}{% elif m.role == 'assistant' %}{{ '<|end|>' }}{% endif %}{% endfor %}" +
      prompted;
  CHECK(words.written(returned, stored_talk) ==
        "<|turn|>user\nHi<|stop|><|turn|>assistant\n[Yes\n]<|stop|><|turn|>user\nWhy<|stop|>"
        "<|turn|>assistant\n[So<|end|>]");
  CHECK(words.chat(returned).end_of_turn() == 1u);
}

TEST_CASE("a mark that a tokenizer.model has as a piece of its own ends an answer") {
  const test::temporary_folder folder;
  using kind = test::made_piece::kind;
  folder.write("tokenizer.model", test::sentencepiece_file(test::made_model::bpe, {{"<unk>", 0, kind::unknown},
                                                                                   {"<s>", 0, kind::control},
                                                                                   {"</s>", 0, kind::control},
                                                                                   {"<end>", 0, kind::user_defined},
                                                                                   {"\u2581", -1},
                                                                                   {"a", -2}}));
  const auto by = open_tokenizer({.file = folder.path()});
  const stored_chat chat{{"t.jinja", "{% for m in messages %}{{ m.content + '<end>\n' }}{% endfor %}", {}}, *by};
  CHECK(chat.end_of_turn() == 3u);
  CHECK(test::bracketed(chat.render({{"user", "a"}, {"assistant", "aa"}})) == "a<end>\n[aa<end>]\n");
}

TEST_CASE("a turn may end with several tokens, but not with those of the next one") {
  const marked_words words;
  const std::string twice =
      "{% for m in messages %}{{ '<|turn|>' + m.role + '\n' + m.content + '<|stop|> <|end|>' }}{% endfor %}" + prompted;
  CHECK(words.written(twice, stored_talk) ==
        "<|turn|>user\nHi<|stop|> <|end|><|turn|>assistant\n[Yes\n<|stop|> <|end|>]<|turn|>user\nWhy<|stop|> <|end|>"
        "<|turn|>assistant\n[So<|stop|> <|end|>]");
  CHECK(words.chat(twice).end_of_turn() == 1u);
}

TEST_CASE("of an earlier answer that is written without its thoughts the rest is learnt, of the last one all") {
  const marked_words words;
  const std::string thinking = R"({%- for m in messages %}
    {%- if m.role == 'assistant' %}
        {%- set thought = m.content.split('</think>')[0].split('<think>')[-1] if '</think>' in m.content else '' %}
        {{- '<|turn|>assistant\n' }}
        {%- if loop.last %}{{- '<think>' + thought + '</think>' }}{%- endif %}
        {{- m.content.split('</think>')[-1] + '<|end|>\n' }}
    {%- else %}{{- '<|turn|>' + m.role + '\n' + m.content + '<|end|>\n' }}{%- endif %}
{%- endfor %})" + prompted;
  const conversation thought{
      {"user", "Hi"}, {"assistant", "<think>hm</think>Yes"}, {"user", "Why"}, {"assistant", "<think>oh</think>So"}};
  CHECK(words.written(thinking, thought) ==
        "<|turn|>user\nHi<|end|>\n<|turn|>assistant\n[Yes<|end|>]\n<|turn|>user\nWhy<|end|>\n"
        "<|turn|>assistant\n[<think>oh</think>So<|end|>]\n");
}

TEST_CASE("reasoning apart from the content is written by a template that asks for it, and else refused") {
  const marked_words words;
  conversation c = stored_talk;
  c[3].reasoning = "hm";
  const std::string thinking =
      "{% for m in messages %}{{ '<|turn|>' + m.role + '\n' }}{% if m.reasoning_content %}"
      "{{ '(' + m.reasoning_content + ')' }}{% endif %}{{ m.content + '<|end|>\n' }}{% endfor %}" +
      prompted;
  CHECK_THAT(words.written(thinking, c),
             Contains("assistant\n[Yes\n<|end|>]") && Contains("assistant\n[(hm)So<|end|>]"));
  CHECK_THROWS_WITH(words.written(turns, c),
                    Contains("message 4 has reasoning apart from its content, which t.jinja does not write"));
  CHECK_THROWS_WITH((chat_template{{.roles = {{"user", {"", ""}}, {"assistant", {"", ""}}}}, *words.by}.render(c)),
                    Contains("which the template of the data does not write"));
}

TEST_CASE("what a template marks is learnt as it is marked") {
  const marked_words words;
  const std::string marked =
      "{% for m in messages %}{{ m.role }}{% if m.role == 'assistant' %}{% generation %}{{ ':' + m.content }}\n"
      "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}";
  conversation c = stored_talk;
  CHECK(words.written(marked, c) == "userHiassistant[:Yes\n\n]userWhyassistant[:So\n]");
  c[1].learnt = false;
  CHECK(words.written(marked, c) == "userHiassistant:Yes\n\nuserWhyassistant[:So\n]");
}

TEST_CASE("a message that is not to be learnt is not an answer") {
  const marked_words words;
  conversation c = stored_talk;
  c[3].learnt = false;
  CHECK_THAT(words.written(turns, c), Contains("[Yes\n<|end|>]") && Contains("assistant\nSo<|end|>\n"));
}

TEST_CASE("an answer that is not found in the text is refused, and what the template itself refuses") {
  const marked_words words;
  CHECK_THROWS_WITH(words.written("{{ messages | length }}", stored_talk),
                    Contains("message 2 is the assistant's and is to be learnt, but the template does not write it"));
  CHECK_THROWS_WITH(words.written("{% for m in messages %}{{ m.content + m.content }}{% endfor %}", stored_talk),
                    Contains("or writes it twice"));
  CHECK_THROWS_WITH(
      words.written("{% for m in messages %}{{ m.content }};{% endfor %}{{ messages[1].content | length }}", stored_talk),
      Contains("its end is not known"));
  CHECK_THROWS_WITH(words.written("\n{{ raise_exception('no') }}", stored_talk),
                    Contains("t.jinja: line 2: the template refuses the conversation: no"));
}

TEST_CASE("a conversation of which the template writes no answer is refused, unless every token has a loss") {
  const marked_words words;
  const template_choice format{
      "checkpoint", {}, stored_template{"t.jinja", "{% for m in messages %}{{ m.content | trim }};{% endfor %}", {}}};
  const text_record empty{.turns = {{"user", "Hi"}, {"assistant", " "}}};
  for (const chat_loss loss : {chat_loss::assistant, chat_loss::last}) {
    const auto encoding = chat_encoding(words.by, {.format = format, .loss = loss});
    CHECK_THROWS_WITH(encoding.encode(empty, [](auto) {}), Contains("nothing that the assistant says"));
    CHECK_THROWS_WITH(chat_test(format, *words.by, loss)(empty), Contains("nothing that the assistant says"));
  }
  CHECK_NOTHROW(chat_test(format, *words.by, chat_loss::all)(empty));
}

TEST_CASE("no token is put before the text of a checkpoint's template") {
  const marked_words words;
  words.folder.write("tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": true})");
  const template_choice format{"checkpoint", {}, stored_template{"t.jinja", turns, {}}};
  const auto encoding = chat_encoding(words.by, {.format = format});
  std::vector<std::uint32_t> ids;
  encoding.encode({.turns = stored_talk}, [&](std::span<const record_word> all) {
    for (const record_word w : all) ids.push_back(w & ~counted_word);
  });
  CHECK(ids == words.by->encode("<|turn|>user\nHi<|end|>\n<|turn|>assistant\nYes\n<|end|>\n<|turn|>user\nWhy<|end|>\n"
                                "<|turn|>assistant\nSo<|end|>\n"));
  const template_choice other{"checkpoint", {}, stored_template{"t.jinja", turns + " ", {}}};
  CHECK(encoding.key != chat_encoding(words.by, {.format = other}).key);
}

}  // namespace stored_chat_test
