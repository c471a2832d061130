#include "models/data/record_tokens.hpp"

#include "models/data/token_cache.hpp"
#include "models/data/tokenized_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {
namespace {

void write_record(const record_list& records, std::size_t i, const record_encoding& encoding, const token_sink& sink) {
  encode_record(encoding, records, i, [&](std::span<const record_word> words) {
    const auto length = static_cast<std::uint32_t>(words.size());
    sink(std::span{&length, 1});
    sink(words);
  });
}

}  // namespace

record_tokens::record_tokens(token_list words) : words_(std::move(words)) {
  std::vector<std::uint64_t> begins;
  for (std::size_t i = 0; i < words_.size(); i += 1 + static_cast<std::size_t>(words_[i])) begins.push_back(i);
  begins_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(begins));
}

std::int64_t record_tokens::observed_vocabulary() const noexcept {
  std::int64_t ids = 0;
  for (std::size_t record = 0; record < size(); ++record)
    for (std::size_t i = 0; i < length(record); ++i)
      ids = std::max(ids, std::int64_t{word(record, i) & ~counted_word} + 1);
  return ids;
}

record_tokens record_tokens::of(const record_list& records, const record_encoding& encoding, const tokenizer& by) {
  return record_tokens{
      cached_tokens({cache_key(fmt::format("marked records {}: {}", records.identity(), encoding.key), by),
                     [&](const token_sink& sink) {
                       for (std::size_t i = 0; i < records.size(); ++i) write_record(records, i, encoding, sink);
                     }})};
}

}  // namespace hydra
