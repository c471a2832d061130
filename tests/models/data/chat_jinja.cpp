#include "models/data/chat_jinja.hpp"

#include "models/data/stored_chat.hpp"
#include "tests/models/data/bracketed.hpp"
#include "tests/models/data/special_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const conversation kind_talk{{"system", "Be kind."},
                             {"user", " Hi "},
                             {"assistant", "Hello!\n"},
                             {"user", ""},
                             {"assistant", "\u00e9 'a' \"b\""}};

/// Of bytes, with special tokens; "</s>" ends a text.
std::shared_ptr<const tokenizer> with_special(const temporary_folder& folder) {
  return bytes_with(folder, {"<|im_start|>", "<|im_end|>", "<s>", "</s>", "<start_of_turn>", "<end_of_turn>",
                             "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"});
}

}  // namespace

TEST_CASE("a turn ends with the token that the template writes after an answer") {
  const temporary_folder folder;
  const auto by = with_special(folder);
  CHECK(chat_template({"chatml"}, *by).end_of_turn() == 1u);
  CHECK(chat_template({"qwen"}, *by).end_of_turn() == 1u);
  CHECK(chat_template({"mistral"}, *by).end_of_turn() == 3u);
  CHECK(chat_template({"gemma"}, *by).end_of_turn() == 5u);
  CHECK(chat_template({"llama-3"}, *by).end_of_turn() == 8u);
}

TEST_CASE("a turn of a template by roles ends with the assistant's suffix if that is one token, not one character") {
  const temporary_folder folder;
  const auto by = with_special(folder);
  const auto end = [&](const std::string& suffix) {
    return chat_template{{.roles = {{"user", {"<|im_start|>", ""}}, {"assistant", {"A: ", suffix}}}}, *by}
        .end_of_turn();
  };
  CHECK(end(" <|im_end|>\n") == 1u);
  for (const char* const suffix : {"", "\n", ".", "<|im_end|>.", "END"}) CHECK_FALSE(end(suffix));
  CHECK_FALSE(chat_template({.roles = {{"user", {"", "<|im_end|>"}}}}, *by).end_of_turn());
}

TEST_CASE("a template in Jinja writes what the template does, and its answers are found") {
  const temporary_folder folder;
  const auto by = with_special(folder);
  std::vector<template_choice> all{
      {.roles = {{"system", {"S\n", ""}}, {"user", {"{{ Q }}", "\t"}}, {"assistant", {"A: ", "<|im_end|>"}}}}};
  for (const std::string& name : chat_template::names()) all.push_back({name});
  for (const template_choice& each : all) {
    const chat_marks marks = marks_of(*by);
    const stored_chat exported{{"t.jinja", chat_jinja(each, marks), {}}, *by};
    CAPTURE(each.name);
    const chat_template own{each, *by};
    const bool begins = !marks.before.empty() && !own.render(kind_talk).front().text.starts_with(marks.before);
    CHECK((begins ? marks.before : "") + bracketed(own.render(kind_talk)) == bracketed(exported.render(kind_talk)));
    CHECK(own.prompt({kind_talk[1]}) == exported.prompt({kind_talk[1]}));
  }
  CHECK(chat_template({"gemma"}, *by).prompt({kind_talk[1]}) ==
        "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
}

TEST_CASE("a template by roles becomes Jinja, its texts in quotes") {
  const std::string text = chat_jinja({.roles = {{"assistant", {"\"A\": ", "\n"}}, {"user", {"", "\u00e9\\"}}}}, {});
  CHECK_THAT(text, Contains(R"({%- if message['role'] == "assistant" -%})") &&
                       Contains(R"({{- "\"A\": " + message['content'] + "\n" -}})") &&
                       Contains(R"({%- elif message['role'] == "user" -%})") &&
                       Contains("{{- \"\" + message['content'] + \"\u00e9\\\\\" -}}") &&
                       Contains(R"({%- if add_generation_prompt -%}{{- "\"A\": " -}})"));
  CHECK_THAT(chat_jinja({.roles = {{"user", {"", ""}}}}, {}), !Contains("add_generation_prompt"));
}

TEST_CASE("Jinja begins a conversation with what the tokenizer puts before a text, unless the template writes it") {
  const chat_marks marks{"<s>", "</s>", "<s>"};
  CHECK_THAT(chat_jinja({"chatml"}, marks), StartsWith("{{- \"<s>\" -}}\n{%- for message in messages -%}"));
  CHECK_THAT(chat_jinja({"qwen"}, marks), StartsWith("{{- \"<s>\" -}}\n{%- if messages[0]"));
  CHECK_THAT(chat_jinja({"llama-3"}, marks), StartsWith("{{- \"<s>\" -}}\n{%- for message in messages -%}"));
  const std::map<std::string, role_marks> roles{
      {"assistant", {"A: ", ""}}, {"system", {"S: ", ""}}, {"user", {"<s>U: ", ""}}};
  CHECK_THAT(
      chat_jinja({.roles = roles}, marks),
      StartsWith("{%- if messages[0]['role'] in [\"assistant\", \"system\"] -%}{{- \"<s>\" -}}\n{%- endif -%}\n"));
  CHECK_THAT(chat_jinja({.roles = {{"user", {"<s>", ""}}}}, marks), !Contains("messages[0]"));
}
