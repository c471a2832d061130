#include "models/data/stored_chat.hpp"

#include "models/tokenizers/file_tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/trimmed.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace hydra {
namespace {

using jinja::text_range;

/// Under which transformers gives reasoning to templates.
constexpr std::array reasoning_names{"reasoning_content", "thinking"};

jinja::value as_value(const chat_message& m) {
  jinja::value_map all{{"role", m.role}, {"content", m.content}};
  if (!m.reasoning.empty())
    for (const char* name : reasoning_names) all.emplace_back(name, m.reasoning);
  return jinja::value::of_map(std::move(all));
}

jinja::value as_value(const conversation& c) {
  jinja::value_list all;
  for (const chat_message& m : c) all.push_back(as_value(m));
  return jinja::value::of_list(std::move(all));
}

/// What a template writes before and after the content of a message.
struct surroundings {
  std::string_view before, after;
};

std::optional<surroundings> around_stand_in(std::string_view text) {
  const auto at = text.find(stand_in);
  if (at == text.npos || text.find(stand_in, at + 1) != text.npos) return std::nullopt;
  return surroundings{text.substr(0, at), text.substr(at + stand_in.size())};
}

[[noreturn]] void refuse_answer(std::size_t message, std::string_view why) {
  refuse(
      fmt::format("message {} is the assistant's and is to be learnt, but {}; mark the message as not to be learnt "
                  "(\"train\": false), give the template {{% generation %}} marks, or choose another template",
                  message + 1, why));
}

bool is_special(const tokenizer& by, std::uint32_t id) {
  if (by.special().end_of_text == id) return true;
  const auto* const file = dynamic_cast<const file_tokenizer*>(&by);
  return file && std::ranges::find(file->added(), id, &added_token::id) != file->added().end();
}

/// Of whole code points.
std::size_t common_bytes(std::string_view a, std::string_view b) {
  auto count = static_cast<std::size_t>(std::ranges::mismatch(a, b).in2 - b.begin());
  while (count > 0 && count < b.size() && !begins_code_point(b[count])) --count;
  return count;
}

/// The special token that a text begins with.
std::optional<std::uint32_t> special_at(const tokenizer& by, std::string_view text) {
  constexpr std::size_t longest_token = 256;
  std::size_t end = std::min(text.size(), longest_token);
  while (end < text.size() && !begins_code_point(text[end])) ++end;
  const std::vector<std::uint32_t> ids = by.encode(text.substr(0, end));
  if (ids.empty() || !is_special(by, ids.front()) || !text.starts_with(by.decode({&ids.front(), 1})))
    return std::nullopt;
  return ids.front();
}

/// That, or the token that a line of several characters is: of the marks that a tokenizer.model has, no file says that
/// they are special.
std::optional<std::uint32_t> mark_at(const tokenizer& by, std::string_view text) {
  if (const auto special = special_at(by, text)) return special;
  const std::string_view line = trimmed(text.substr(0, text.find('\n')));
  const auto id = line.size() > 1 ? by.id_of(line) : std::nullopt;
  if (!id) return std::nullopt;
  const std::vector<std::uint32_t> ids = by.encode(line);
  return !ids.empty() && ids.back() == *id ? id : std::nullopt;
}

std::vector<chat_piece> as_pieces(const std::string& text, const std::vector<text_range>& answers) {
  std::vector<chat_piece> all;
  std::size_t at = 0;
  const auto add = [&](std::size_t end, bool answer) {
    if (end > at) all.push_back({text.substr(at, end - at), answer});
    at = std::max(at, end);
  };
  for (const text_range& r : answers) {
    add(r.begin, false);
    add(r.end, true);
  }
  add(text.size(), false);
  return all;
}

}  // namespace

stored_chat::stored_chat(const stored_template& stored, const tokenizer& by)
    : program_(stored.file.string(), stored.text), who_(stored.file.string()), by_(by) {
  for (const char* name : reasoning_names)
    writes_reasoning_ = writes_reasoning_ || stored.text.find(name) != stored.text.npos;
  given_ = {{"tools", jinja::none_type{}}, {"documents", jinja::none_type{}}};
  for (const auto& [name, token] : stored.tokens) given_.emplace_back(name, token);
  turn_end_ = find_turn_end();
}

jinja::rendering stored_chat::write(const conversation& c, bool prompts) const {
  jinja::value_map given = given_;
  given.emplace_back("messages", as_value(c));
  given.emplace_back("add_generation_prompt", prompts);
  return program_.render(given);
}

std::string stored_chat::prompt(const conversation& c) const { return write(c, true).text; }

/// Nothing for messages that the template refuses, as it may refuse none at all.
std::optional<std::string> stored_chat::try_prompt(const conversation& c) const {
  try {
    return prompt(c);
  } catch (const fault_error&) {
    return std::nullopt;
  }
}

std::vector<chat_piece> stored_chat::render(const conversation& c) const {
  if (!writes_reasoning_) require_no_reasoning(c, who_);
  const jinja::rendering r = write(c);
  return as_pieces(r.text, program_.marks_generation() ? marked_in(c, r) : answers_in(c, r.text));
}

std::vector<text_range> stored_chat::answers_in(const conversation& c, const std::string& text) const {
  std::vector<text_range> all;
  for (std::size_t i = 0; i < c.size(); ++i)
    if (is_learnt(c[i])) all.push_back(answer_in(c, i, text));
  return all;
}

/// Bytes of what ends a turn, if it stands there.
std::size_t stored_chat::end_mark(std::string_view after) const {
  return after.starts_with(turn_end_.text) ? turn_end_.text.size() : 0;
}

text_range stored_chat::answer_in(const conversation& c, std::size_t message, const std::string& text) const {
  conversation other = c;
  other[message].content = stand_in;
  const std::string otherwise = write(other).text;
  const auto around = around_stand_in(otherwise);
  if (!around) refuse_answer(message, "the template does not write it, or writes it twice");
  if (!text.ends_with(around->after) || text.size() < around->after.size())
    refuse_answer(message,
                  "the template writes other things behind it for another content, so that its end is not known");
  const std::size_t end = text.size() - around->after.size();
  const auto asked = try_prompt({c.begin(), c.begin() + static_cast<std::ptrdiff_t>(message)});
  const bool begins = asked && text.starts_with(*asked) && asked->size() <= end;
  const std::size_t begin = begins ? asked->size() : std::min(common_bytes(around->before, text), end);
  return {begin, end + end_mark(around->after)};
}

/// Without the marks of answers that are not learnt.
std::vector<text_range> stored_chat::marked_in(const conversation& c, const jinja::rendering& r) const {
  std::vector<text_range> all = r.generated;
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (!is_answer(c[i]) || is_learnt(c[i])) continue;
    const text_range left_out = answer_in(c, i, r.text);
    std::erase_if(all, [&](const text_range& m) { return m.begin < left_out.end && left_out.begin < m.end; });
  }
  return all;
}

/// Nothing for a conversation that the template refuses or writes without the answer.
std::optional<std::string> stored_chat::after_stand_in(const conversation& c) const {
  try {
    const std::string text = write(c).text;
    const auto around = around_stand_in(text);
    return around ? std::optional{std::string{around->after}} : std::nullopt;
  } catch (const fault_error&) {
    return std::nullopt;
  }
}

stored_chat::turn_end stored_chat::end_in(const std::string& last, const std::optional<std::string>& followed) const {
  turn_end found;
  for (;;) {
    const std::string_view rest = trimmed_start(std::string_view{last}.substr(found.text.size()));
    const auto token = mark_at(by_, rest);
    if (!token) return found;
    const std::string longer = last.substr(0, last.size() - rest.size()) + by_.decode({&*token, 1});
    if (followed ? !followed->starts_with(longer) : found.token.has_value()) return found;
    found = {longer, token};
  }
}

/// What a whole conversation ends with is not found behind an answer that another message follows: it ends an answer
/// only if nothing ends both.
stored_chat::turn_end stored_chat::find_turn_end() const {
  conversation short_talk{{"user", "?"}, {"assistant", std::string{stand_in}}};
  const std::string last = after_stand_in(short_talk).value_or("");
  short_talk.push_back({"user", "?"});
  const turn_end of_both = end_in(last, after_stand_in(short_talk));
  return of_both.token ? of_both : end_in(last, std::nullopt);
}

}  // namespace hydra
