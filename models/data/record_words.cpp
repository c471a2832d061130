#include "models/data/record_words.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

void encode_record(const record_encoding& encoding, const record_list& records, std::size_t index,
                   const record_sink& sink) {
  const text_record record = records.record(index);
  try {
    encoding.encode(record, sink);
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::bad_input) throw;
    refuse(fmt::format("{}: {}", records.where(index), e.what_happened().text));
  }
}

void shorten(std::vector<record_word>& words, std::size_t space, std::size_t kept) {
  if (words.size() <= space) return;
  const auto target = std::ranges::find_if(words, [](record_word w) { return (w & counted_word) != 0; });
  const auto prompt = static_cast<std::size_t>(target - words.begin());
  const std::size_t rest = std::min(words.size() - prompt, space - std::min(prompt, space / 2));
  const std::size_t left = std::min(prompt, space - rest);
  words.resize(prompt + rest);
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(std::min(kept, left));
  words.erase(first, first + static_cast<std::ptrdiff_t>(prompt - left));
  words.front() |= shortened_record;
}

token_cut cut_after(std::string_view before, std::span<const std::uint32_t> all, const tokenizer& by) {
  const std::vector<std::uint32_t> alone = by.encode(before);
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(alone, all).in2 - all.begin());
  return {same, same < alone.size()};
}

}  // namespace hydra
