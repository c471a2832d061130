#include "models/data/stored_template.hpp"

#include "models/data/chat_jinja.hpp"
#include "models/data/jinja_texts.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Qwen2.5's, in short.
constexpr const char* qwen = R"({%- if tools %}{{- '<|im_start|>system\n# Tools\n\nYou may call' }}{%- else %}
    {%- if messages[0]['role'] == 'system' %}{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}{%- else %}
        {{- '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' }}
{%- endif %}{%- endif %}{%- for m in messages %}{%- if m.role == "user" or (m.role == "assistant" and not m.tool_calls) %}
    {{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' + '\n' }}
{%- elif m.role == "tool" %}{{- '<tool_response>' }}{%- endif %}{%- endfor %})";

constexpr const char* chatml = R"({{ '<|im_start|>' + m['role'] + m['content'] + '<|im_end|>' }})";

const chat_marks some_marks{"<s>", "</s>", "<s>"};

std::optional<std::string> note_of(const std::filesystem::path& tokenizer, const template_choice& chosen) {
  return note_of_stored_template(tokenizer, chosen, some_marks);
}

}  // namespace

TEST_CASE("a tokenizer's own template is noted where it writes other marks than the chosen one") {
  const temporary_folder folder;
  CHECK_FALSE(note_of(folder.path(), {.name = "chatml"}));
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "[INST] {{ x }} [/INST]"},
                                                          {"name": "tools", "template": "other"}]})");
  CHECK_FALSE(note_of(folder.path(), {.name = "mistral"}));
  CHECK_THAT(note_of(folder.path() / "tokenizer.json", {.name = "gemma"}).value_or(""),
             Contains("tokenizer_config.json: its chat template is not used: conversations are written as gemma"));
  folder.write("tokenizer_config.json", R"({"chat_template": "[INST] {{ x }}"})");
  CHECK(note_of(folder.path(), {.name = "mistral"}));
  folder.write("chat_template.jinja", chatml);
  CHECK_FALSE(note_of(folder.path(), {.name = "chatml"}));
  CHECK(note_of(folder.path(), {.name = "qwen"}));  // its own system message
  CHECK_THAT(note_of(folder.path(), {.name = "mistral"}).value_or(""),
             Contains("chat_template.jinja: its chat"));
  CHECK_THAT(note_of(folder.path(), {.roles = {{"user", {"<|im_start|>", "<|im_end|>"}}}}).value_or(""),
             Contains("with the marks of the workload"));
}

TEST_CASE("a tokenizer's own template is noted with what it writes besides") {
  const temporary_folder folder;
  const auto note = [&](const std::string& stored, const std::string& chosen) {
    folder.write("chat_template.jinja", stored);
    return note_of(folder.path(), {.name = chosen}).value_or("");
  };
  CHECK_THAT(note(qwen, "chatml"),
             Contains("as chatml, without its \"You are Qwen, created by Alibaba Cloud. You are a "));
  CHECK(note(qwen, "qwen") == "");
  CHECK_THAT(note(std::string{chatml} + "{{ '\\n<think>\\n' + m.reasoning }}", "chatml"),
             Contains("without its \"<think>\""));
  const std::string llama =
      "{{- '<|start_header_id|>' + m['role'] + '<|end_header_id|>\\n\\n' + m['content'] + '<|eot_id|>' }}";
  CHECK(note(llama, "llama-3") == "");
  CHECK_THAT(note(llama + "{{ 'Today Date: ' + date }}", "llama-3"), Contains("without its \"Today Date:\""));
  CHECK_THAT(note("{{ '[INST] ' + m['content'] + '[/INST]' }}", "mistral"), Contains("is not used"));
}

TEST_CASE("of each named template that is exported nothing is noted") {
  const temporary_folder folder;
  for (const std::string& name : chat_template::names()) {
    folder.write("chat_template.jinja", chat_jinja({.name = name}, some_marks));
    CHECK(note_of(folder.path(), {.name = name}).value_or("") == "");
  }
}

TEST_CASE("of roles that were exported nothing is noted where they are the workload's, too") {
  const temporary_folder folder;
  const template_choice roles{.roles = {{"user", {"<u>", "</u>"}}, {"assistant", {"<a>", "</a>"}}}};
  folder.write("chat_template.jinja", chat_jinja(roles, some_marks));
  CHECK(note_of(folder.path(), roles).value_or("") == "");
  CHECK_THAT(note_of(folder.path(), {.roles = {{"user", {"<U>", "</u>"}}}}).value_or(""),
             Contains("with the marks of the workload"));
}

TEST_CASE("the checkpoint's template is taken by its name, or where none is named, with its special tokens") {
  const temporary_folder folder;
  folder.write("tokenizer_config.json",
               R"({"bos_token": {"content": "<b>"}, "unk_token": null, "add_bos_token": true,
                   "chat_template": [{"name": "tools", "template": "t"}, {"name": "default", "template": "d"}]})");
  const template_choice found = with_stored({}, {.file = folder.path()}, some_marks);
  CHECK(found.name == "checkpoint");
  CHECK(found.stored == stored_template{folder.path() / "tokenizer_config.json",
                                        "d",
                                        {{"bos_token", "<b>"}, {"eos_token", "</s>"}}});
  folder.write("chat_template.jinja", "j");
  CHECK(with_stored({"checkpoint"}, {.file = folder.path() / "tokenizer.json"}, some_marks).stored->text == "j");
  CHECK_FALSE(with_stored({"chatml"}, {.file = folder.path()}, some_marks).stored);
  const template_choice roles{.roles = {{"user", {"", ""}}}};
  CHECK(with_stored(roles, {.file = folder.path()}, some_marks) == roles);
  CHECK(chat_jinja(found, some_marks) == "d");
  CHECK_FALSE(note_of(folder.path(), found));
}

TEST_CASE("where the checkpoint has no template, none is taken, and the choices are told") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(with_stored({}, {.file = folder.path()}, some_marks),
                    Contains("`template` is not given, and " + folder.path().string() + " has none") &&
                        Contains("choose template = \"chatml\""));
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "tools", "template": "t"}]})");
  CHECK_THROWS_WITH(with_stored({"checkpoint"}, {.file = folder.path()}, some_marks),
                    Contains("template = \"checkpoint\" wants a chat template, and "));
  CHECK_THROWS_WITH(with_stored({"checkpoint"}, {}, some_marks), Contains("the tokenizer has no folder"));
}

TEST_CASE("a template that writes the date of today is noted") {
  const temporary_folder folder;
  folder.write("chat_template.jinja", "{{ strftime_now('%d') }}");
  const auto note = [&] { return note_of(folder.path(), with_stored({}, {.file = folder.path()}, some_marks)); };
  CHECK_THAT(note().value_or(""), Contains("chat_template.jinja: its chat template writes the date of today"));
  folder.write("chat_template.jinja", "{% if strftime_now is defined %}{{ strftime_now('%d') }}{% endif %}");
  CHECK_FALSE(note());
}

TEST_CASE("texts of a template are those that it writes of a conversation of texts") {
  CHECK(jinja_texts("{# 'no' #}<s> {% for m in messages %}{{ m['role'] + ': \\'a\\'\\n  b' }}{% endfor %}\n</s>") ==
        std::vector<std::string>{"<s>", ": 'a'", "</s>"});
  CHECK(jinja_texts("{% if a == 'xx' %}{{ ('yes' if 'yy' in a else \"no\") }}{% else %}{% set b = f('zz') + 'set' %}{% "
                    "endif %}") == std::vector<std::string>{"yes", "no", "set"});
  CHECK(
      jinja_texts(
          "{% if tools %}aa{% if x %}bb{% endif %}{% elif not m.tool_calls %}cc{% else %}dd{% endif %}"
          "{% macro f(x) %}ee{% endmacro %}{{ raise_exception('ff') }}{% if add_generation_prompt %}gg{% endif %}hh") ==
      std::vector<std::string>{"cc", "dd", "hh"});
  CHECK(jinja_texts("{{ '<think>' + m if '</think>' not in m else \"no\" }}") ==
        std::vector<std::string>{"<think>", "no"});
  CHECK(jinja_texts("{{ '{{a}}' + 'b}} c' }}{% set x = 'd%}e' %}{# it's #}end") ==
        std::vector<std::string>{"{{a}}", "b}} c", "d%}e", "end"});
  for (const char* const broken : {"{{", "{{ 'a", "{{ 'a\\", "{% if", "{% endif %}{% else %}", "{"})
    CHECK_NOTHROW(jinja_texts(broken));
}
