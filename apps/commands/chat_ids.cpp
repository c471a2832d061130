#include "apps/commands/chat_ids.hpp"

#include "models/data/jsonl_records.hpp"
#include "models/data/record_encoding.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

struct chat_summary {
  std::size_t records = 0, tokens = 0, counted = 0;
};

void add(std::span<const record_word> words, bool json, chat_summary& s) {
  std::vector<std::uint32_t> ids, loss;
  for (const record_word w : words) {
    ids.push_back(w & ~counted_word);
    loss.push_back((w & counted_word) != 0 ? 1 : 0);
    s.counted += loss.back();
  }
  ++s.records;
  s.tokens += ids.size();
  if (json) fmt::print("{{\"ids\": [{}], \"loss\": [{}]}}\n", fmt::join(ids, ", "), fmt::join(loss, ", "));
}

void print_record_ids(const jsonl_records& records, const record_encoding& encoding, const char* noun, bool json) {
  chat_summary s;
  for (std::size_t i = 0; i < records.size(); ++i)
    encode_record(encoding, records, i, [&](std::span<const record_word> words) { add(words, json, s); });
  if (!json)
    fmt::print("{}, {}, {} of them with a loss\n", counted(s.records, noun), counted(s.tokens, "token"), s.counted);
}

}  // namespace

void print_chat_ids(std::shared_ptr<const tokenizer> by, const std::filesystem::path& file,
                    const template_choice& format, bool json) {
  const jsonl_records records{file, record_fields{.chat = true}};
  print_record_ids(records, chat_encoding(std::move(by), {.format = format}), "conversation", json);
}

void print_answer_ids(std::shared_ptr<const tokenizer> by, const std::filesystem::path& file, const record_shape& shape,
                      bool json) {
  const jsonl_records records{file, {.prompt = shape.prompt, .text = shape.answer, .short_prompt = shape.short_prompt}};
  constexpr std::size_t any_length = std::numeric_limits<std::uint32_t>::max();
  print_record_ids(records, prompt_encoding(std::move(by), any_length, false), "record", json);
}

}  // namespace hydra::apps
