#include "models/data/record_encoding.hpp"
#include "models/data/record_words.hpp"
#include "models/tokenizers/text_frame.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {
namespace {

/// Pieces of at most `window` + 1 tokens; each starts with the last token of the one before, which was only a target
/// there.
void cut_to_window(std::span<record_word> text, std::size_t window, const record_sink& sink) {
  for (std::size_t begin = 0; begin + 1 < text.size() || begin == 0; begin += window) {
    const auto piece = text.subspan(begin, std::min(window + 1, text.size() - begin));
    if (!piece.empty()) piece.front() &= ~shortened_record;
    sink(piece);
  }
}

}  // namespace

record_encoding prompt_encoding(std::shared_ptr<const tokenizer> by, std::size_t window, bool whole_texts) {
  const auto encode = [=, special = by->special()](const text_record& r, const record_sink& sink) {
    std::vector<record_word> words = by->encode(r.prompt + r.text);
    const std::size_t prompt = r.prompt.empty() ? 0 : cut_after(r.prompt, words, *by).tokens;
    const std::size_t begun = begin_text(special, words);
    end_text(special, words);
    for (std::size_t i = std::max<std::size_t>(begun + prompt, 1); i < words.size(); ++i) words[i] |= counted_word;
    if (whole_texts && r.prompt.empty()) return cut_to_window(words, window, sink);
    shorten(words, window + 1, special.before.size());
    sink(words);
  };
  return {fmt::format("prompt and text, window {}{}", window, whole_texts ? ", whole texts" : ""), encode};
}

}  // namespace hydra
