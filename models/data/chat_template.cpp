#include "models/data/chat_template.hpp"

#include "models/data/chat_jinja.hpp"
#include "models/data/stored_chat.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace hydra {
namespace {

using pieces = std::vector<chat_piece>;
using messages = std::span<const chat_message>;

std::string stripped(std::string_view text) { return std::string{jinja::stripped(text)}; }

bool starts_with_system(messages m) { return !m.empty() && m.front().role == "system"; }

void require_roles(messages m, std::string_view who, std::initializer_list<std::string_view> known) {
  for (std::size_t i = 0; i < m.size(); ++i)
    if (std::ranges::find(known, m[i].role) == known.end())
      refuse(fmt::format("message {} is by \"{}\"; the template {} has {}", i + 1, shown(m[i].role), who,
                         fmt::join(known, ", ")));
}

/// The messages after the system's, which have to be by user, assistant, user, ...
messages alternating(messages m, std::string_view who) {
  const std::size_t skipped = starts_with_system(m) ? 1 : 0;
  for (std::size_t i = skipped; i < m.size(); ++i)
    if (m[i].role != ((i - skipped) % 2 == 0 ? "user" : "assistant"))
      refuse(
          fmt::format("message {} is by \"{}\"; the template {} wants user and assistant to alternate, the user first",
                      i + 1, shown(m[i].role), who));
  return m.subspan(skipped);
}

void add_chatml(pieces& all, const chat_message& m) {
  all.push_back({fmt::format("<|im_start|>{}\n", m.role)});
  all.push_back({m.content + "<|im_end|>", is_learnt(m)});
  all.push_back({"\n"});
}

pieces chatml(messages c, const chat_marks&) {
  require_roles(c, "chatml", {"system", "user", "assistant"});
  pieces all;
  for (const chat_message& m : c) add_chatml(all, m);
  return all;
}

pieces qwen(messages c, const chat_marks&) {
  require_roles(c, "qwen", {"system", "user", "assistant"});
  pieces all;
  if (!starts_with_system(c))
    add_chatml(all, {"system", "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."});
  for (const chat_message& m : c) add_chatml(all, m);
  return all;
}

pieces llama_3(messages c, const chat_marks& marks) {
  require_roles(c, "llama-3", {"system", "user", "assistant"});
  pieces all{{marks.begin_of_text}};
  for (const chat_message& m : c) {
    all.push_back({fmt::format("<|start_header_id|>{}<|end_header_id|>\n\n", m.role)});
    all.push_back({stripped(m.content) + "<|eot_id|>", is_learnt(m)});
  }
  return all;
}

pieces mistral(messages c, const chat_marks& marks) {
  pieces all{{marks.begin_of_text}};
  std::string system = starts_with_system(c) ? c.front().content + "\n\n" : "";
  for (const chat_message& m : alternating(c, "mistral"))
    if (is_answer(m))
      all.push_back({" " + m.content + marks.end_of_text, is_learnt(m)});
    else
      all.push_back({fmt::format(" [INST] {}{} [/INST]", std::exchange(system, ""), m.content)});
  return all;
}

pieces gemma(messages c, const chat_marks& marks) {
  pieces all{{marks.begin_of_text}};
  std::string system = starts_with_system(c) ? c.front().content + "\n\n" : "";
  for (const chat_message& m : alternating(c, "gemma")) {
    all.push_back({fmt::format("<start_of_turn>{}\n{}", is_answer(m) ? "model" : m.role, std::exchange(system, ""))});
    all.push_back({stripped(m.content) + "<end_of_turn>", is_learnt(m)});
    all.push_back({"\n"});
  }
  return all;
}

pieces by_roles(messages c, const std::map<std::string, role_marks>& roles) {
  pieces all;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const auto found = roles.find(c[i].role);
    if (found == roles.end())
      refuse(fmt::format("message {} is by \"{}\", for whom `template` has no prefix and suffix", i + 1,
                         shown(c[i].role)));
    all.push_back({found->second.prefix});
    all.push_back({c[i].content + found->second.suffix, is_learnt(c[i])});
  }
  return all;
}

struct named_template {
  std::string name;
  pieces (*render)(messages, const chat_marks&);
  std::vector<std::string> tokens;    ///< that it writes; the last one ends a message
  bool begins = false, ends = false;  ///< whether it also writes those of a text's begin and end
};

const std::vector<named_template>& templates() {
  static const std::vector<named_template> all{
      {"chatml", chatml, {"<|im_start|>", "<|im_end|>"}},
      {"gemma", gemma, {"<start_of_turn>", "<end_of_turn>"}, true},
      {"llama-3", llama_3, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}, true},
      {"mistral", mistral, {}, true, true},
      {"qwen", qwen, {"<|im_start|>", "<|im_end|>"}}};
  return all;
}

const named_template& find_template(const std::string& name) {
  const auto found = std::ranges::find(templates(), name, &named_template::name);
  if (found != templates().end()) return *found;
  chat_template::require_known(name);
  refuse("the chat template of the checkpoint is wanted, and no checkpoint is named");
}

std::string text_of(const tokenizer& by, std::optional<std::uint32_t> id) {
  return id ? by.decode(std::span{&*id, 1}) : std::string{};
}

/// `instead`: what could be done, beside the choice of another template.
[[noreturn]] void refuse_lacking(const named_template& t, std::string_view lacking, const tokenizer& by,
                                 std::string_view instead = "") {
  refuse(fmt::format(
      "the template {} writes {}, which {} does not have as one token; {}choose the template that the model was "
      "made for, or write one as a table of what is written around each role's messages",
      t.name, lacking, by.describe(), instead));
}

/// Written as other tokens, the marks of a template would be learnt as text.
void require_tokens(const named_template& t, const chat_marks& marks, const tokenizer& by) {
  if (t.begins && marks.begin_of_text.empty()) refuse_lacking(t, "a begin-of-text token", by);
  if (t.ends && marks.end_of_text.empty()) refuse_lacking(t, "an end-of-text token", by);
  std::vector<std::string> lacking;
  for (const std::string& token : t.tokens)
    if (!by.id_of(token)) lacking.push_back(fmt::format("\"{}\"", shown(token)));
  if (lacking.empty()) return;
  refuse_lacking(t, fmt::format("{}", fmt::join(lacking, " and ")), by,
                 fmt::format("add {} to those of the checkpoint, chain = {{ from = \"...\", tokens = [{}] }}, ",
                             lacking.size() == 1 ? "it" : "them", fmt::join(lacking, ", ")));
}

/// "." and the like may be a token, but does not end a turn wherever it is written.
std::optional<std::uint32_t> end_of_suffix(const std::map<std::string, role_marks>& all, const tokenizer& by) {
  const auto assistant = all.find("assistant");
  const std::string_view mark = assistant == all.end() ? std::string_view{} : trimmed(assistant->second.suffix);
  return mark.size() > 1 ? by.id_of(mark) : std::nullopt;
}

}  // namespace

/// Left out, it would not be what the data say that the model thinks.
void require_no_reasoning(const conversation& c, std::string_view who) {
  const auto found = std::ranges::find_if(c, [](const chat_message& m) { return !m.reasoning.empty(); });
  if (found == c.end()) return;
  refuse(
      fmt::format("message {} has reasoning apart from its content, which {} does not write; write it into the "
                  "content as the model's own template does, or choose template = \"checkpoint\" where that writes it",
                  found - c.begin() + 1, who));
}

chat_marks marks_of(const tokenizer& by) {
  const special_tokens special = by.special();
  return {text_of(by, special.begin_of_text), text_of(by, special.end_of_text),
          special.before.empty() ? std::string{} : by.decode(special.before)};
}

chat_template::chat_template(template_choice choice, const tokenizer& by)
    : choice_(std::move(choice)), by_(by), marks_(marks_of(by)) {
  if (choice_.stored) stored_ = std::make_shared<const stored_chat>(*choice_.stored, by);
  if (!stored_ && choice_.roles.empty()) require_tokens(find_template(choice_.name), marks_, by);
}

std::vector<chat_piece> chat_template::render(const conversation& c) const {
  if (stored_) return stored_->render(c);
  require_no_reasoning(c, "the template of the data");
  return choice_.roles.empty() ? find_template(choice_.name).render(c, marks_) : by_roles(c, choice_.roles);
}

std::string chat_template::prompt(const conversation& c) const {
  const stored_template own{choice_.name.empty() ? "template" : choice_.name, chat_jinja(choice_, marks_)};
  return stored_ ? stored_->prompt(c) : stored_chat{own, by_}.prompt(c);
}

std::optional<std::uint32_t> chat_template::end_of_turn() const {
  if (stored_) return stored_->end_of_turn();
  if (!choice_.roles.empty()) return end_of_suffix(choice_.roles, by_);
  const std::vector<std::string>& tokens = tokens_of(choice_.name);
  return tokens.empty() ? by_.special().end_of_text : by_.id_of(tokens.back());
}

const std::vector<std::string>& chat_template::tokens_of(const std::string& name) { return find_template(name).tokens; }

std::string chat_template::example_of(const std::string& name, const chat_marks& marks) {
  conversation talk{{"user", "?"}, {"assistant", "!"}, {"user", "?"}, {"assistant", "!"}};
  pieces all = find_template(name).render(talk, marks);
  talk.insert(talk.begin(), {"system", "."});
  std::ranges::copy(find_template(name).render(talk, marks), std::back_inserter(all));
  std::string text;
  for (const chat_piece& p : all) text += p.text;
  return text;
}

void chat_template::require_known(const std::string& name) {
  const std::vector<std::string> known = choices();
  if (std::ranges::find(known, name) == known.end()) refuse_unknown("there is no template", name, known);
}

std::vector<std::string> chat_template::choices() {
  std::vector<std::string> all = names();
  all.insert(all.begin(), of_checkpoint);
  return all;
}

const std::vector<std::string>& chat_template::names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const named_template& t : templates()) list.push_back(t.name);
    return list;
  }();
  return all;
}

}  // namespace hydra
