#include "models/tokenizers/pre_tokenizer.hpp"

#include <utility>

namespace hydra {

using step_kind = pre_tokenizer_step::kind;

namespace {

std::string with_blanks_written(const metaspace& blanks, pre_tokenizer::part piece) {
  const bool prefix =
      blanks.when == metaspace::prefix::always || (blanks.when == metaspace::prefix::first && piece.first);
  std::string written;
  written.reserve(piece.text.size() + piece.text.size() / 2 + blanks.replacement.size());
  if (prefix && !piece.text.starts_with(' ') && !piece.text.starts_with(blanks.replacement))
    written = blanks.replacement;
  for (const char c : piece.text) c == ' ' ? written += blanks.replacement : written += c;
  return written;
}

}  // namespace

pre_tokenizer::pre_tokenizer(std::vector<pre_tokenizer_step> steps) : steps_{std::move(steps)} {}

void pre_tokenizer::split(part whole, made_texts& made, const sink& word) const { split_from(0, whole, made, word); }

void pre_tokenizer::split_from(std::size_t step, part whole, made_texts& made, const sink& word) const {
  if (whole.text.empty()) return;
  if (step == steps_.size()) return word(whole.text);
  const auto& [what, pattern, blanks] = steps_[step];
  if (what == step_kind::prefix_space || what == step_kind::write_blanks) {
    if (what == step_kind::write_blanks)
      whole.text = made.emplace_back(with_blanks_written(blanks, whole));
    else if (whole.text.front() != ' ')
      whole.text = made.emplace_back(' ' + std::string{whole.text});
    return split_from(step + 1, whole, made, word);
  }
  const std::string_view text = whole.text;
  const bool last = step + 1 == steps_.size();
  std::size_t done = 0;
  const auto pass = [&](std::size_t end) {
    const part next{text.substr(done, end - done), whole.first && done == 0};
    done = end;
    if (!last)
      split_from(step + 1, next, made, word);
    else if (!next.text.empty())
      word(next.text);
  };
  pattern_search search{pattern, text};
  while (const auto found = search.next()) {
    if (what == step_kind::remove_between)
      done = found->begin;
    else if (what != step_kind::cut_after)
      pass(found->begin);
    if (what == step_kind::remove_found)
      done = found->end;
    else if (what != step_kind::cut_before)
      pass(found->end);
  }
  if (what != step_kind::remove_between) pass(text.size());
}

}  // namespace hydra
