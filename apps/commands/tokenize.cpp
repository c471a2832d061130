#include "apps/commands/commands.hpp"

#include "apps/commands/chat_ids.hpp"
#include "apps/commands/notes.hpp"
#include "apps/commands/text_input.hpp"
#include "apps/commands/tokenizer_files.hpp"
#include "apps/commands/written_file.hpp"
#include "apps/workload/data_kinds.hpp"
#include "apps/workload/matching_files.hpp"
#include "models/data/stored_template.hpp"
#include "models/tokenizers/bpe_trainer.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using ids = std::vector<std::uint32_t>;

struct tokenize_options {
  std::vector<std::string> inputs;
  std::optional<std::string> tokenizer, output, chat, kind, prompt, answer;
  std::string field = "text";
  bool json = false, decode = false;
  std::optional<std::int64_t> train;
  std::vector<std::string> special;
  std::int64_t least_count = 2;
};

/// What was read, and how long encoding took.
struct summary {
  std::size_t tokens = 0, bytes = 0;
  std::chrono::duration<double> seconds{};

  std::string text() const {
    const double per_token = tokens == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(tokens);
    const double rate = seconds.count() == 0 ? 0 : static_cast<double>(bytes) / 1e6 / seconds.count();
    return fmt::format("{} tokens, {} bytes, {:.3f} bytes per token, {:.1f} MB/s\n", tokens, bytes, per_token, rate);
  }
};

/// Little-endian uint32, independent of the machine's byte order.
void write_ids(std::ostream& out, const ids& all) {
  for (const std::uint32_t id : all)
    for (unsigned shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(id >> shift & 0xFF));
}

ids read_ids(const fs::path& file) {
  const mapped_file mapped{file};
  const auto bytes = mapped.bytes();
  if (bytes.size() % 4 != 0)
    refuse(fmt::format("{}: {} bytes are not a multiple of 4: no token ids", file.string(), bytes.size()));
  ids all(bytes.size() / 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) all[i / 4] |= std::to_integer<std::uint32_t>(bytes[i]) << i % 4 * 8;
  return all;
}

void append(const tokenizer& t, const fs::path& file, const input_text& text, ids& all) try {
  t.encode(text.text, all);
} catch (const fault_error& e) {
  refuse_line(file, text.line, e.what_happened().text);
}

int print_ids(const tokenizer& t, const tokenize_options& o) {
  const fs::path file = o.inputs.front();
  each_line_or_record(file, o.field, [&](const input_text& line) {
    ids one;
    append(t, file, line, one);
    fmt::print("[{}]\n", fmt::join(one, ", "));
  });
  return 0;
}

int encode(const tokenizer& t, const tokenize_options& o) {
  const fs::path file = o.inputs.front();
  ids all;
  summary s;
  each_text(file, o.field, [&](const input_text& text) {
    const auto begin = std::chrono::steady_clock::now();
    append(t, file, text, all);
    s.seconds += std::chrono::steady_clock::now() - begin;
    s.bytes += text.text.size();
  });
  s.tokens = all.size();
  if (o.output) write_atomically(*o.output, [&](std::ostream& out) { write_ids(out, all); });
  fmt::print(o.output ? stderr : stdout, "{}", s.text());
  return 0;
}

std::string text_of(const tokenizer& t, const fs::path& file, const ids& all) try {
  return t.decode(all);
} catch (const fault_error& e) {
  refuse(fmt::format("{}: {}", file.string(), e.what_happened().text));
}

nlohmann::json list_in(const fs::path& file, const input_text& line) {
  nlohmann::json list = parse_line(file, line);
  if (!list.is_array()) refuse_line(file, line.line, "is not a list of token ids");
  return list;
}

/// Decodes the list of ids on each line to a JSON text; incomplete UTF-8 becomes U+FFFD.
int print_texts(const tokenizer& t, const fs::path& file) {
  each_json_line(file, [&](const input_text& line) {
    ids one;
    for (const auto& id : list_in(file, line)) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(t.vocabulary()))
        refuse_line(file, line.line, fmt::format("{} is not a token id below {}", shown_json(id), t.vocabulary()));
      one.push_back(id.get<std::uint32_t>());
    }
    const nlohmann::json text = t.decode(one);
    fmt::print("{}\n", text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  });
  return 0;
}

int decode(const tokenizer& t, const tokenize_options& o) {
  const fs::path file = o.inputs.front();
  if (o.json) return print_texts(t, file);
  const std::string text = text_of(t, file, read_ids(file));
  if (o.output)
    write_atomically(*o.output, text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

int learn(const tokenize_options& o) {
  if (!o.output) refuse("--train writes a tokenizer: give --output tokenizer.json");
  bpe_trainer trainer{{.vocabulary = *o.train, .special = o.special, .least_count = o.least_count}};
  for (const std::string& file : o.inputs)
    each_text(file, o.field, [&](const input_text& text) { trainer.add(text.text); });
  const trained_bpe trained = trainer.train();
  write_atomically(*o.output, to_tokenizer_json(trained));
  tell_line(fmt::format("{} tokens, {} merges written to {}", trained.tokens.size(), trained.merges.size(), *o.output));
  if (std::cmp_less(trained.tokens.size(), *o.train))
    tell_line(fmt::format("no more pairs occur {} times: {} tokens instead of {}", o.least_count,
                          trained.tokens.size(), *o.train));
  return 0;
}

/// Patterns as in a workload.
std::vector<std::string> expanded(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    const std::vector<fs::path> matching = matching_files(input);
    if (matching.empty()) refuse(fmt::format("no file is called \"{}\"", shown(input)));
    for (const fs::path& file : matching) files.push_back(file.string());
  }
  return files;
}

/// None: the records are texts.
std::optional<record_shape> shape_of(const tokenize_options& o) {
  if (o.kind == "alpaca") return alpaca_shape();
  if (o.kind == "prompt-completion") return completion_shape();
  if (o.kind)
    refuse(
        fmt::format("--kind: unknown value \"{}\", expected \"alpaca\" or \"prompt-completion\"; conversations are "
                    "read with --template",
                    shown(*o.kind)));
  return o.prompt ? std::optional{record_shape{.prompt = *o.prompt, .answer = *o.answer}} : std::nullopt;
}

int run(tokenize_options o) {
  o.inputs = expanded(o.inputs);
  if (o.output && o.json) refuse("--json prints ids line by line, --output writes those of the whole text: choose one");
  if (o.output) check_written_file("--output", *o.output);
  if (o.train) return learn(o);
  if (o.inputs.size() > 1)
    refuse(
        fmt::format("only --train takes several inputs; here are {}: {}", o.inputs.size(), fmt::join(o.inputs, ", ")));
  if (!o.tokenizer) refuse("which tokenizer? Give --tokenizer bytes, a tokenizer.json or a folder, or --train N");
  const tokenizer_choice named = named_tokenizer(*o.tokenizer);
  const auto t = open_tokenizer(named);
  tell_notes(t->notes());
  if (o.decode) return decode(*t, o);
  if (o.chat) {
    print_chat_ids(t, o.inputs.front(), with_stored(read_template("--template", *o.chat), named, marks_of(*t)), o.json);
    return 0;
  }
  if (const auto shape = shape_of(o)) {
    print_answer_ids(t, o.inputs.front(), *shape, o.json);
    return 0;
  }
  return o.json ? print_ids(*t, o) : encode(*t, o);
}

}  // namespace

command_action declare_tokenize(command_line& line) {
  auto o = std::make_shared<tokenize_options>();
  line.add_option(
          "input", o->inputs,
          "UTF-8 text, or records if the name ends in .jsonl or .json (JSON lines, or one array); with --decode, token "
          "ids; --train takes several, and patterns such as \"data/*.txt\"")
      .required();
  const auto tokenizer = line.add_option("--tokenizer", o->tokenizer,
                                         "bytes, a tokenizer.json or tokenizer.model, or a folder with one, with "
                                         "vocab.json and merges.txt, or with vocab.txt");
  const auto output =
      line.add_option("--output", o->output,
                      "file to write, must not exist: ids as flat little-endian uint32, a text, or a tokenizer.json");
  const auto field = line.add_option("--field", o->field, "of each record").shows_default();
  const auto json = line.add_flag("--json", o->json, "one list of ids for each line or record, on stdout");
  const auto decode =
      line.add_flag("--decode", o->decode, "ids to text; with --json, lists of ids on lines to JSON texts");
  auto chat =
      line.add_option("--template", o->chat,
                      "the records are conversations, written by this template (a name, or a table as in a workload): "
                      "their ids, and with --json which tokens have a loss");
  auto kind = line.add_option("--kind", o->kind,
                              "the records are of this kind of data, alpaca or prompt-completion: their ids as "
                              "with --template");
  auto prompt =
      line.add_option("--prompt", o->prompt,
                      "the same of records of a prompt and an answer, each the name of a field or a text with "
                      "fields as in a workload");
  auto answer = line.add_option("--answer", o->answer, "what follows the prompt").needs(prompt);
  auto train = line.add_option("--train", o->train, "trains a byte-level BPE of this many tokens");
  line.add_option("--special", o->special, "a special token of the trained tokenizer; may be repeated")
      .needs(train)
      .repeated();
  line.add_option("--least-count", o->least_count, "rarer pairs are not merged").needs(train).shows_default();
  train.excludes(tokenizer).excludes(json).excludes(decode);
  prompt.needs(answer).excludes(kind);
  for (auto* const records : {&kind, &prompt})
    records->excludes(chat).excludes(train).excludes(decode).excludes(output).excludes(field);
  chat.excludes(train).excludes(decode).excludes(output).excludes(field);
  return [o] { return run(*o); };
}

}  // namespace hydra::apps
