#include "apps/commands/shown_sample.hpp"

#include "apps/commands/part_name.hpp"
#include "models/data/sample_bytes.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;

std::vector<float> floats_of(std::span<std::byte> bytes) {
  const auto all = values_in<float>(bytes, bytes.size() / sizeof(float));
  return {all.begin(), all.end()};
}

using id_span = std::span<const std::int64_t>;

std::string text_of(const tokenizer* words, std::int64_t id) {
  if (words == nullptr || id < 0 || id >= words->vocabulary()) return "";
  const auto one = static_cast<std::uint32_t>(id);
  return words->decode({&one, 1});
}

/// Inputs, and after the last one of each record its target: a token is what the model has to say after the one before.
std::vector<shown_token> causal_tokens(id_span ids, id_span starts, id_span targets, const tokenizer* words) {
  std::vector<shown_token> all;
  const auto begins = [&](std::size_t i) { return i > 0 && i < starts.size() && starts[i] != 0; };
  const auto counts = [&](std::size_t i) { return targets[i] != uncounted_target; };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool taught = i > 0 && !begins(i) && counts(i - 1);
    all.push_back({.id = ids[i], .text = text_of(words, ids[i]), .taught = taught, .begins = begins(i)});
    const bool last = i + 1 == ids.size() || begins(i + 1);
    if (last && counts(i))
      all.push_back({.id = targets[i], .text = text_of(words, targets[i]), .taught = true, .only_target = true});
  }
  return all;
}

/// Rows of ids, segments and places; targets of masked samples are the ids that were there.
std::vector<shown_token> encoder_tokens(id_span ids, id_span places, id_span targets, const tokenizer* words) {
  std::vector<shown_token> all;
  for (std::size_t i = 0; i < ids.size() && places[i] != 0; ++i) {
    shown_token t{.id = ids[i], .text = text_of(words, ids[i])};
    if (i < targets.size() && targets[i] != uncounted_target) {
      t.taught = true;
      t.masked = targets[i];
      t.masked_text = text_of(words, targets[i]);
    }
    all.push_back(std::move(t));
  }
  return all;
}

void show_text(shown_sample& s, const data_source& source, sample_form form, const tokenizer* words, id_span in,
               id_span out) {
  const auto& shape = source.sample_input().shape;
  const auto length = static_cast<std::size_t>(shape.back());
  if (form != sample_form::causal) {
    s.tokens =
        encoder_tokens(in.first(length), in.subspan(2 * length), form == sample_form::masked ? out : id_span{}, words);
    s.padding = length - s.tokens.size();
    return;
  }
  const std::size_t used = std::min(length, source.tokens_of(s.part, s.index));
  const id_span starts = shape.size() > 1 ? in.subspan(length, used) : id_span{};
  s.tokens = causal_tokens(in.first(used), starts, out.first(used), words);
  s.padding = length - used;
}

void show_label(shown_sample& s, const data_source& source, std::int64_t label) {
  const auto names = source.class_names();
  s.label = label;
  if (label >= 0 && static_cast<std::size_t>(label) < names.size())
    s.label_name = names[static_cast<std::size_t>(label)];
}

/// A token may be a part of a character: JSON would have the same replacement for each of its bytes.
std::string quoted(const std::string& text, std::int64_t id) {
  if (text.empty()) return std::to_string(id);
  if (!utf8_complaint(text).empty()) return fmt::format("\"{}\"", shown(text));
  return json_text(nlohmann::json(text));
}

std::string token_text(const shown_token& t) {
  const std::string before = std::string{t.begins ? "| " : ""} + (t.taught ? "*" : "");
  return before + quoted(t.text, t.id) + (t.masked ? " for " + quoted(t.masked_text, *t.masked) : "");
}

/// Inputs add up to the sample's length; targets are those with a loss, of which a sample with a label has none.
std::string counts_text(const shown_sample& s) {
  const auto inputs = std::ranges::count(s.tokens, false, &shown_token::only_target);
  const auto taught = std::ranges::count(s.tokens, true, &shown_token::taught);
  const std::string targets = s.label ? "" : fmt::format("; {} targets with a loss", taught);
  return fmt::format("inputs: {} tokens and {} of padding{}", inputs, s.padding, targets);
}

std::string some(const std::vector<float>& numbers) {
  constexpr std::size_t most = 8;
  const auto shown = std::span{numbers}.first(std::min(most, numbers.size()));
  return fmt::format("{:.6g}{}", fmt::join(shown, " "), shown.size() < numbers.size() ? " ..." : "");
}

}  // namespace

shown_sample show_sample(const data_source& source, sample_form form, const tokenizer* words, split part,
                         std::size_t index) {
  const tensor_spec in = source.sample_input(), out = source.sample_target();
  std::vector<std::byte> input(in.bytes().value()), target(out.bytes().value());
  source.read(part, index, input, target);
  shown_sample s{.part = part, .index = index, .input = to_string(in)};
  const bool text = in.type == element::i64, classes = out.type == element::i64;
  const id_span ids = classes ? values_in<std::int64_t>(target, target.size() / sizeof(std::int64_t)) : id_span{};
  if (const auto parts = source.sample_parts(); !parts.empty()) s.input = to_string(std::span{parts});
  if (in.type == element::f32) s.numbers = floats_of(input);
  if (text) show_text(s, source, form, words, values_in<std::int64_t>(input, input.size() / sizeof(std::int64_t)), ids);
  if (classes && ids.size() == 1 && (!text || form == sample_form::labelled)) show_label(s, source, ids[0]);
  if (!classes) s.targets = floats_of(target);
  return s;
}

std::string to_text(const shown_sample& s) {
  std::string out = fmt::format("{} {}: {}", part_name(s.part), s.index, s.input);
  if (!s.tokens.empty()) out += ", " + counts_text(s);
  if (s.label)
    out += fmt::format(", label {}{}", *s.label,
                       s.label_name.empty() ? "" : " " + json_text(nlohmann::json(s.label_name)));
  if (!s.targets.empty()) out += fmt::format(", target {}", some(s.targets));
  if (!s.numbers.empty()) out += fmt::format("\n  {}", some(s.numbers));
  if (s.tokens.empty()) return out + "\n";
  out += "\n ";
  for (const shown_token& t : s.tokens) out += " " + token_text(t);
  return out + "\n";
}

std::string legend(std::span<const shown_sample> samples) {
  const auto any = [&](auto has) {
    return std::ranges::any_of(samples, [&](const shown_sample& s) {
      return std::ranges::any_of(s.tokens, [&](const shown_token& t) { return static_cast<bool>(t.*has); });
    });
  };
  if (!any(&shown_token::taught)) return "";
  std::string text = "*: a target with a loss";
  if (any(&shown_token::only_target)) text += "; the last one of a record is not an input";
  if (any(&shown_token::masked)) text += "; A for B: the model sees A and has to say B";
  if (any(&shown_token::begins)) text += "; |: another record begins";
  return text + "\n";
}

ordered_json json_of(const shown_sample& s) {
  ordered_json j{{"part", part_name(s.part)}, {"index", s.index}, {"input", s.input}};
  for (const shown_token& t : s.tokens) {
    ordered_json one{{"id", t.id}, {"text", t.text}, {"taught", t.taught}};
    if (t.begins) one["begins"] = true;
    if (t.only_target) one["only_target"] = true;
    if (t.masked) one["masked"] = *t.masked;
    j["tokens"].push_back(std::move(one));
  }
  if (!s.tokens.empty()) j["padding"] = s.padding;
  if (!s.numbers.empty()) j["numbers"] = s.numbers;
  if (s.label) j["label"] = *s.label;
  if (!s.label_name.empty()) j["label_name"] = s.label_name;
  if (!s.targets.empty()) j["target"] = s.targets;
  return j;
}

}  // namespace hydra::apps
