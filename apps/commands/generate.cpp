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
#include "runtime/base/trimmed.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/device/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace hydra::apps {

namespace {

constexpr std::int64_t usual_tokens = 100;
constexpr const char* from_input = "-";  ///< --chat without a text
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
  std::optional<std::string> chat, system;  ///< `chat` may be from_input
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

token_list encode(const text_source& s, const std::string& text, bool whole = false) {
  if (!s.words) refuse("there is no tokenizer for a prompt of words: give --tokenizer, or --prompt-ids");
  std::vector<std::uint32_t> ids = s.words->encode(text);
  if (!whole) begin_text(s.special, ids);
  if (ids.empty() && s.special.begin_of_text) ids.push_back(*s.special.begin_of_text);
  return {ids.begin(), ids.end()};
}

token_list prompt_of(const text_source& s, const generate_options& o) {
  if (o.prompt_ids) return parse_ids(*o.prompt_ids);
  return encode(s, o.prompt_file ? text_in(*o.prompt_file) : *o.prompt);
}

/// What precedes the assistant's next message, as the training writes it.
token_list prompt_of(const text_source& s, const conversation& talk) {
  return encode(s, s.chat->prompt(talk), s.chat->is_whole());
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
    refuse(
        fmt::format("the prompt has {} tokens; the model's context of {} has no place for another", prompt, s.context));
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
  if (o.prompt.has_value() + o.prompt_file.has_value() + o.prompt_ids.has_value() + o.chat.has_value() != 1)
    refuse("give one prompt: --prompt, --prompt-file, --prompt-ids or --chat");
  if (o.chat == from_input && o.samples != 1)
    refuse("--samples: a talk in the terminal goes on with one answer; give --chat a text for several");
  if (o.tokens && *o.tokens <= 0) refuse(fmt::format("--tokens is {}; it must be positive", *o.tokens));
  if (o.samples == 0) refuse("--samples is 0; it must be positive");
  if (o.memory) parse_bytes(*o.memory);  // before a model is read
  hydra::check(o.sampling);
}

text_source_options with_said(const generate_options& o) {
  text_source_options from = o.from;
  from.chats = o.chat.has_value();
  for (const auto& [key, option] : o.choosing)
    if (option.is_given()) from.said.insert(key);
  if (o.sampling.temperature == 0) from.said.insert({"top_k", "top_p"});  // the likeliest token is among all of these
  return from;
}

/// The model on a device, for texts up to a length that grows with them.
class text_writer {
 public:
  text_writer(const text_source& s, const generate_options& o) : source_(s), options_(o) {}

  token_list write(const token_list& prompt, std::int64_t count, std::uint64_t sample) {
    const std::int64_t given = std::ssize(prompt), longest = given + count - 1;
    if (!writer_ || given > lengths_.prompt || longest > lengths_.longest) open({given, longest});
    return apps::write(*writer_, prompt, count, source_, options_, sample);
  }

 private:
  static byte_count memory_of(const generate_options& o) { return o.memory ? parse_bytes(*o.memory) : unlimited; }

  /// A talk becomes longer with each message: room for twice as much spares copies of the model.
  void open(decode_lengths wanted) {
    if (writer_) {
      wanted.longest = std::min(2 * wanted.longest, source_.context - 1);
      wanted.prompt = std::min(2 * wanted.prompt, wanted.longest);
    }
    writer_.reset();
    on_.reset(make_cpu_device("cpu:0", {.memory = memory_of(options_)}).release());
    lengths_ = wanted;
    writer_.emplace(source_.model, decoder_options{.lengths = wanted}, *on_, make_host_arena(unlimited));
    tell(writer_->plan());
  }

  const text_source& source_;
  const generate_options& options_;
  std::unique_ptr<device, leave_if_hanging> on_{};
  decode_lengths lengths_{};
  std::optional<decoder> writer_{};
};

void require_chat(const text_source& s) {
  if (!s.words) refuse("--chat: there is no tokenizer; give --tokenizer the one that the model was trained with");
  if (!s.chat)
    refuse(
        "--chat: how the model writes conversations is not known: its folder has neither chat_template.jinja nor a "
        "default chat_template in tokenizer_config.json, and its data are no conversations; --prompt gives it a text");
}

conversation begun(const generate_options& o) {
  return o.system ? conversation{{"system", *o.system}} : conversation{};
}

/// The assistant's next message.
std::string answer_to(const conversation& talk, text_writer& by, const text_source& s, const generate_options& o,
                      std::uint64_t sample) {
  const token_list prompt = prompt_of(s, talk);
  check_prompt(prompt, s);
  const token_list text = by.write(prompt, tokens_to_write(std::ssize(prompt), s, o), sample);
  return s.words->decode(std::vector<std::uint32_t>(text.begin() + std::ssize(prompt), text.end()));
}

/// A model may write bytes that are not UTF-8, or be ended within a character: such bytes become U+FFFD.
std::string as_message(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t valid = first_utf8(std::as_bytes(std::span{text}));
    all += valid > 0 ? text.substr(0, valid) : "\ufffd";
    text.remove_prefix(std::max<std::size_t>(valid, 1));
  }
  return all;
}

/// Each line is a message of the user, to the end of the input.
void talk(text_writer& by, const text_source& s, const generate_options& o) {
  conversation all = begun(o);
  std::uint64_t sample = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (trimmed(line).empty()) continue;
    all.push_back({"user", line});
    const std::string answer = answer_to(all, by, s, o, sample++);
    fmt::print("{}\n", answer);
    std::fflush(stdout);
    all.push_back({"assistant", as_message(answer)});
  }
}

void write_answers(text_writer& by, const text_source& s, const generate_options& o) {
  require_chat(s);
  if (o.chat == from_input) return talk(by, s, o);
  conversation all = begun(o);
  all.push_back({"user", *o.chat});
  for (std::uint64_t sample = 0; sample < o.samples; ++sample) {
    fmt::print("{}\n", answer_to(all, by, s, o, sample));
    std::fflush(stdout);
  }
}

void write_texts(text_writer& by, const text_source& s, const generate_options& o) {
  const token_list prompt = prompt_of(s, o);
  check_prompt(prompt, s);
  const std::int64_t count = tokens_to_write(std::ssize(prompt), s, o);
  for (std::uint64_t sample = 0; sample < o.samples; ++sample) {
    fmt::print("{}\n", as_text(by.write(prompt, count, sample), s, o));
    std::fflush(stdout);
  }
}

int generate(const generate_options& o) {
  check(o);
  const text_source s = open_text_source(with_said(o));
  tell_notes(s.model->notes());
  if (s.words) tell_notes(s.words->notes());
  tell_notes(s.notes);
  text_writer by{s, o};
  o.chat ? write_answers(by, s, o) : write_texts(by, s, o);
  return 0;
}

void declare_prompt(command_line& line, generate_options& o) {
  line.add_option(
      "--prompt", o.prompt,
      "text to continue; after a begin-of-text token if the tokenizer adds one, as the texts of the training");
  line.add_option("--prompt-file", o.prompt_file, "the same, in a file");
  line.add_option("--prompt-ids", o.prompt_ids, "the same as token ids, \"1 2 3\"; then ids are written, too");
  const declared_option chat =
      line.add_option(
              "--chat", o.chat,
              "a user's message, which the model answers: by the template of its data, or of its folder; without "
              "a text each line of the input is one, and the talk goes on to its end")
          .optional("[TEXT]", from_input);
  line.add_option("--system", o.system, "the system's message before it").needs(chat);
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
  line.example("hydra generate runs/workload --model llama-lr4e-4 --prompt \"Once upon a time\"");
  return [o] { return generate(*o); };
}

}  // namespace hydra::apps
