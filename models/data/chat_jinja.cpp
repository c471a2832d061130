#include "models/data/chat_jinja.hpp"

#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string_view>
#include <vector>

namespace hydra {
namespace {

using role_map = std::map<std::string, role_marks>;

/// A text in quotes: Jinja has the escapes of JSON.
std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

std::string written(const std::string& text) { return fmt::format("{{{{- {} -}}}}\n", quoted(text)); }

std::string generation_prompt(const std::string& text) {
  return "{%- if add_generation_prompt -%}" + written(text) + "{%- endif -%}\n";
}

const std::string chatml_jinja = R"({%- for message in messages -%}
    {{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' -}}
{%- endfor -%}
)" + generation_prompt("<|im_start|>assistant\n");

const std::string qwen_jinja = R"({%- if messages[0]['role'] != 'system' -%}
    {{- '<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n' -}}
{%- endif -%}
)" + chatml_jinja;

std::string llama_3(const chat_marks& marks) {
  return written(marks.begin_of_text) + R"({%- for message in messages -%}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' -}}
    {{- message['content'] | trim + '<|eot_id|>' -}}
{%- endfor -%}
)" + generation_prompt("<|start_header_id|>assistant<|end_header_id|>\n\n");
}

/// The system's message goes into the first one of the user.
constexpr std::string_view checked_turns = R"({%- if messages[0]['role'] == 'system' -%}
    {%- set system = messages[0]['content'] + '\n\n' -%}{%- set rest = messages[1:] -%}
{%- else -%}{%- set system = '' -%}{%- set rest = messages -%}{%- endif -%}
{%- for message in rest -%}
    {%- if message['role'] != ('user' if loop.index0 % 2 == 0 else 'assistant') -%}
        {{- raise_exception('user and assistant must alternate, the user first') -}}
    {%- endif -%}
)";

std::string mistral(const chat_marks& marks) {
  return fmt::format("{}{}{}{}{}", written(marks.begin_of_text), checked_turns,
                     R"(    {%- if message['role'] == 'user' -%}
        {{- ' [INST] ' + (system if loop.first else '') + message['content'] + ' [/INST]' -}}
    {%- else -%}
        {{- ' ' + message['content'] + )",
                     quoted(marks.end_of_text), R"( -}}
    {%- endif -%}
{%- endfor -%}
)");
}

std::string gemma(const chat_marks& marks) {
  return fmt::format("{}{}{}{}", written(marks.begin_of_text), checked_turns,
                     R"(    {{- '<start_of_turn>' + ('user' if message['role'] == 'user' else 'model') + '\n' -}}
    {{- (system if loop.first else '') + message['content'] | trim + '<end_of_turn>\n' -}}
{%- endfor -%}
)",
                     generation_prompt("<start_of_turn>model\n"));
}

/// Before a conversation whose first prefix does not begin with it.
std::string begin_of_roles(const role_map& all, const std::string& before) {
  if (before.empty()) return {};
  std::vector<std::string> without;
  for (const auto& [role, marks] : all)
    if (!marks.prefix.starts_with(before)) without.push_back(quoted(role));
  if (without.empty()) return {};
  return fmt::format("{{%- if messages[0]['role'] in [{}] -%}}{}{{%- endif -%}}\n", fmt::join(without, ", "),
                     written(before));
}

std::string by_roles(const role_map& all, const std::string& before) {
  std::string text = begin_of_roles(all, before) + "{%- for message in messages -%}\n";
  const char* test = "if";
  for (const auto& [role, marks] : all) {
    text += fmt::format("    {{%- {} message['role'] == {} -%}}\n        {{{{- {} + message['content'] + {} -}}}}\n",
                        test, quoted(role), quoted(marks.prefix), quoted(marks.suffix));
    test = "elif";
  }
  text +=
      "    {%- else -%}\n        {{- raise_exception('a message is by ' + message['role']) -}}\n    {%- endif -%}\n"
      "{%- endfor -%}\n";
  const auto assistant = all.find("assistant");
  return assistant == all.end() ? text : text + generation_prompt(assistant->second.prefix);
}

}  // namespace

std::string chat_jinja(const template_choice& format, const chat_marks& marks) {
  if (format.stored) return format.stored->text;
  if (!format.roles.empty()) return by_roles(format.roles, marks.before);
  if (format.name == "llama-3") return llama_3(marks);
  if (format.name == "mistral") return mistral(marks);
  if (format.name == "gemma") return gemma(marks);
  return (marks.before.empty() ? "" : written(marks.before)) + (format.name == "qwen" ? qwen_jinja : chatml_jinja);
}

}  // namespace hydra
