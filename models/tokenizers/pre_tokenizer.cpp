#include "models/tokenizers/pre_tokenizer.hpp"

#include <utility>

namespace hydra {

using kind = pre_tokenizer_step::kind;

pre_tokenizer::pre_tokenizer(std::vector<pre_tokenizer_step> steps) : steps_{std::move(steps)} {}

void pre_tokenizer::split(std::string_view text, made_texts& made, const sink& word) const {
  split_from(0, text, made, word);
}

void pre_tokenizer::split_from(std::size_t step, std::string_view text, made_texts& made, const sink& word) const {
  if (text.empty()) return;
  if (step == steps_.size()) return word(text);
  const auto& [what, pattern] = steps_[step];
  if (what == kind::prefix_space) {
    if (text.front() != ' ') text = made.emplace_back(' ' + std::string{text});
    return split_from(step + 1, text, made, word);
  }
  std::size_t done = 0;
  const auto between = [&](std::size_t end) {
    if (what != kind::remove_between) split_from(step + 1, text.substr(done, end - done), made, word);
  };
  pattern_search search{pattern, text};
  while (const auto found = search.next()) {
    between(found->begin);
    if (what != kind::remove_found)
      split_from(step + 1, text.substr(found->begin, found->end - found->begin), made, word);
    done = found->end;
  }
  between(text.size());
}

}  // namespace hydra
