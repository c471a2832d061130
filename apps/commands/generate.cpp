#include "apps/commands/commands.hpp"

#include "apps/commands/notes.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/commands/text_source.hpp"
#include "models/tokenizers/text_frame.hpp"
#include "partition/inference/decoder.hpp"
#include "partition/inference/sampling.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/device/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace hydra::apps {

namespace {

constexpr std::int64_t usual_tokens = 100;
constexpr byte_count unlimited{std::uint64_t{1} << 62};
constexpr duration stop_limit = std::chrono::seconds(10);

/// Not freed: the threads of a device that hangs use it until the program ends.
struct leave_if_hanging {
  void operator()(device* d) const {
    if (d->stop(stop_limit)) delete d;
  }
};

struct generate_options {
  text_source_options from;
  std::optional<std::string> prompt, prompt_file, prompt_ids;
  std::optional<std::int64_t> tokens;
  std::uint64_t samples = 1;
  sampling_options sampling;
  std::map<std::string, declared_option> choosing;  ///< what replaces a key of generation_config.json
  std::optional<std::string> memory;
};

using token_list = std::vector<std::int64_t>;

/// Of a pipe, as <(COMMAND) is one, nothing is read: it might never end.
std::string text_in(const std::string& file) try {
  return read_text(file, text_kind::prompt);
} catch (const fault_error& e) {
  std::error_code ignored;
  const bool is_pipe = std::filesystem::is_fifo(file, ignored);
  throw fault_error{e.what_happened().code,
                    fmt::format("--prompt-file {}{}", e.what_happened().text,
                                is_pipe ? "; --prompt \"$(COMMAND)\" takes what a command writes" : "")};
}

token_list parse_ids(const std::string& text) {
  std::istringstream words{text};
  token_list ids;
  for (std::string word; words >> word;) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc{} || end != word.data() + word.size())
      refuse(fmt::format("--prompt-ids: \"{}\" is not a token id; give numbers with spaces between", word));
    ids.push_back(id);
  }
  return ids;
}

token_list encode(const text_source& s, const std::string& text) {
  if (!s.words) refuse("there is no tokenizer for a prompt of words: give --tokenizer, or --prompt-ids");
  std::vector<std::uint32_t> ids = s.words->encode(text);
  begin_text(s.special, ids);
  if (ids.empty() && s.special.begin_of_text) ids.push_back(*s.special.begin_of_text);
  return {ids.begin(), ids.end()};
}

token_list prompt_of(const text_source& s, const generate_options& o) {
  if (o.prompt_ids) return parse_ids(*o.prompt_ids);
  return encode(s, o.prompt_file ? text_in(*o.prompt_file) : *o.prompt);
}

void check_prompt(const token_list& prompt, const text_source& s) {
  const std::int64_t vocabulary = s.model->outputs(1).back().shape.back();
  if (prompt.empty()) refuse("the prompt has no token; a text must start with one");
  for (const std::int64_t id : prompt)
    if (id < 0 || id >= vocabulary)
      refuse(fmt::format("token id {} of the prompt is not in the model's vocabulary of {}", id, vocabulary));
}

/// How many tokens to write.
std::int64_t tokens_to_write(std::int64_t prompt, const text_source& s, const generate_options& o) {
  const std::int64_t most = s.context - prompt;
  if (most <= 0)
    refuse(fmt::format("the prompt has {} tokens; the model's context of {} has no place for another", prompt,
                       s.context));
  if (o.tokens && *o.tokens > most)
    refuse(fmt::format("--tokens: {} do not fit behind the prompt's {} in the model's context of {}; at most {} do",
                       *o.tokens, prompt, s.context, most));
  return o.tokens.value_or(std::min(usual_tokens, most));
}

bool writes_text(const text_source& s, const generate_options& o) { return s.words && !o.prompt_ids; }

/// Logits of the tokens to choose among: the model's vocabulary may be larger than the tokenizer's (padding), and the
/// excess tokens have no text.
std::span<const float> choices(const std::vector<float>& logits, const text_source& s, const generate_options& o) {
  if (!writes_text(s, o)) return logits;
  return std::span{logits}.first(std::min(logits.size(), static_cast<std::size_t>(s.words->vocabulary())));
}

/// The tokens of one text, from the first of the prompt on.
token_list write(decoder& writer, const token_list& prompt, std::int64_t count, const text_source& s,
                 const generate_options& o, std::uint64_t sample) {
  writer.restart();
  token_list text = prompt;
  std::vector<float> logits = writer.next(prompt);
  for (std::int64_t i = 1;; ++i) {
    const std::int64_t id = pick_token(choices(logits, s, o), o.sampling, {.sample = sample, .position = text.size()});
    if (s.ends.contains(id)) return text;
    text.push_back(id);
    if (i == count) return text;
    logits = writer.next({&text.back(), 1});
  }
}

std::string as_text(const token_list& ids, const text_source& s, const generate_options& o) {
  if (!writes_text(s, o)) return fmt::format("{}", fmt::join(ids, " "));
  const auto& before = s.special.before;
  const bool begun = std::ranges::equal(before, std::span{ids}.first(std::min(before.size(), ids.size())));
  return s.words->decode(std::vector<std::uint32_t>(ids.begin() + (begun ? std::ssize(before) : 0), ids.end()));
}

void tell(const decode_plan& plan) {
  const auto kept = std::ranges::count(plan.resident, true);
  if (kept == std::ssize(plan.resident)) return;
  tell_line(fmt::format("{} of {} layers stay on the device, the others are copied for every token; peak at most {}",
                        kept, plan.resident.size(), to_string(plan.needed)));
}

void check(const generate_options& o) {
  if (o.prompt.has_value() + o.prompt_file.has_value() + o.prompt_ids.has_value() != 1)
    refuse("give one prompt: --prompt, --prompt-file or --prompt-ids");
  if (o.tokens && *o.tokens <= 0) refuse(fmt::format("--tokens is {}; it must be positive", *o.tokens));
  if (o.samples == 0) refuse("--samples is 0; it must be positive");
  hydra::check(o.sampling);
}

text_source_options with_said(const generate_options& o) {
  text_source_options from = o.from;
  for (const auto& [key, option] : o.choosing)
    if (option.is_given()) from.said.insert(key);
  if (o.sampling.temperature == 0) from.said.insert({"top_k", "top_p"});  // the likeliest token is among all of these
  return from;
}

int generate(const generate_options& o) {
  check(o);
  const byte_count memory = o.memory ? parse_bytes(*o.memory) : unlimited;
  const text_source s = open_text_source(with_said(o));
  tell_notes(s.model->notes());
  if (s.words) tell_notes(s.words->notes());
  tell_notes(s.notes);
  const token_list prompt = prompt_of(s, o);
  check_prompt(prompt, s);
  const auto given = std::ssize(prompt);
  const std::int64_t count = tokens_to_write(given, s, o);
  const std::unique_ptr<device, leave_if_hanging> on{make_cpu_device("cpu:0", {.memory = memory}).release()};
  decoder writer{
      s.model, {.lengths = {.prompt = given, .longest = given + count - 1}}, *on, make_host_arena(unlimited)};
  tell(writer.plan());
  for (std::uint64_t sample = 0; sample < o.samples; ++sample) {
    fmt::print("{}\n", as_text(write(writer, prompt, count, s, o, sample), s, o));
    std::fflush(stdout);
  }
  return 0;
}

void declare_prompt(command_line& line, generate_options& o) {
  line.add_option(
      "--prompt", o.prompt,
      "text to continue; after a begin-of-text token if the tokenizer adds one, as the texts of the training");
  line.add_option("--prompt-file", o.prompt_file, "the same, in a file");
  line.add_option("--prompt-ids", o.prompt_ids, "the same as token ids, \"1 2 3\"; then ids are written, too");
  line.add_option("--tokens", o.tokens,
                 "tokens to write at most (default: 100, or as many as the model's context allows)");
  line.add_option("--samples", o.samples, "texts to write, each with other random choices (default: 1)");
}

void declare_sampling(command_line& line, generate_options& o) {
  sampling_options& s = o.sampling;
  const declared_option temperature = line.add_option(
      "--temperature", s.temperature, "of the random choices; 0: always the likeliest token (default: 1)");
  o.choosing = {{"do_sample", temperature},
                {"temperature", temperature},
                {"top_k", line.add_option("--top-k", s.top_k, "choose among the likeliest k tokens (default: all)")},
                {"top_p", line.add_option("--top-p", s.top_p,
                                          "choose among the likeliest tokens that have this probability together "
                                          "(default: 1)")}};
  line.add_option("--seed", s.seed, "of the random choices (default: 0)");
}

}  // namespace

command_action declare_generate(command_line& line) {
  auto o = std::make_shared<generate_options>();
  line.add_option("source", o->from.source,
                  "folder of a Hugging Face checkpoint, of an adapter (of PEFT), or of a run (the newest checkpoint)")
      .required();
  line.add_option("--model", o->from.model, "name of a model of the run; not needed if there is one");
  add_base_option(line, o->from.bases);
  line.add_flag("--best", o->from.best,
               "the checkpoint of the best evaluation (validate.keep_best) instead of the newest");
  line.add_option("--tokenizer", o->from.tokenizer,
                 "bytes, a tokenizer.json or its folder (default: the checkpoint's, or the one of the run's data)");
  declare_prompt(line, *o);
  declare_sampling(line, *o);
  line.add_option("--memory", o->memory,
                 "of the device, \"24MiB\": what does not fit is streamed (default: everything fits)");
  return [o] { return generate(*o); };
}

}  // namespace hydra::apps
