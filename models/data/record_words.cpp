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

void shorten(std::vector<record_word>& words, std::size_t space) {
  if (words.size() <= space) return;
  const auto target = std::ranges::find_if(words, [](record_word w) { return (w & counted_word) != 0; });
  const auto prompt = static_cast<std::size_t>(target - words.begin());
  const std::size_t rest = std::min(words.size() - prompt, space - std::min(prompt, space / 2));
  const std::size_t kept = std::min(prompt, space - rest);
  words.resize(prompt + rest);
  words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(kept + rest));
  words.front() |= shortened_record;
}

}  // namespace hydra
