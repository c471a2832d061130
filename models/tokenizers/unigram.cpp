#include "models/tokenizers/unigram.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

constexpr double unknown_penalty = 10;  // below the least score

}  // namespace

/// The last token of the best tokens up to a byte.
struct unigram::step {
  double score = 0;  ///< sum of all tokens
  std::uint32_t id = 0;
  std::uint32_t length = 0;  ///< bytes; 0: no tokens end here
};

unigram::unigram(tokenizer_parts given, unigram_rules rules)
    : word_tokenizer{std::move(given), std::move(rules.words)},
      rules_{std::move(rules)},
      trie_{parts().tokens},
      bytes_{parts().tokens},
      unknown_score_{std::ranges::min(rules_.scores) - unknown_penalty} {}

std::vector<unigram::step> unigram::best_steps(std::string_view word) const {
  std::vector<step> ends(word.size() + 1);
  for (std::size_t at = 0, character = 0; at < word.size(); at += character) {
    character = first_code_point(word.substr(at)).length;
    const auto offer = [&](std::size_t length, std::uint32_t id, double score) {
      step& best = ends[at + length];
      const double sum = score + ends[at].score;
      if (best.length == 0 || sum > best.score) best = {sum, id, static_cast<std::uint32_t>(length)};
    };
    bool covered = false;
    trie_.prefixes(word.substr(at), [&](std::size_t length, std::uint32_t id) {
      offer(length, id, rules_.scores[id]);
      covered |= length == character;
    });
    if (!covered && !rules_.unknown)
      refuse(fmt::format("{} of the text has no token in {}, and there is no unknown token",
                         in_quotes(word.substr(at, character)), parts().file));
    if (!covered) offer(character, *rules_.unknown, unknown_score_);
  }
  return ends;
}

void unigram::append(std::string_view word, std::vector<std::uint32_t>& ids, std::vector<std::uint32_t>&) const {
  const std::vector<step> ends = best_steps(word);
  std::vector<step> way;
  for (std::size_t end = word.size(); end > 0; end -= way.back().length) way.push_back(ends[end]);
  std::size_t begin = 0, at = 0;  // of a run of unknown tokens, and after it
  for (const step& each : way | std::views::reverse) {
    if (each.id != rules_.unknown) {
      append_unknown(word.substr(begin, at - begin), ids);
      ids.push_back(each.id);
      begin = at + each.length;
    }
    at += each.length;
  }
  append_unknown(word.substr(begin), ids);
}

/// A run is one token, which may be in the vocabulary: the unknown token itself, for one.
void unigram::append_unknown(std::string_view run, std::vector<std::uint32_t>& ids) const {
  if (run.empty()) return;
  if (const auto id = parts().tokens.find(run)) return ids.push_back(*id);
  if (rules_.byte_fallback && bytes_.append(run, ids)) return;
  ids.push_back(*rules_.unknown);
}

std::string unigram::decode_known(std::span<const std::uint32_t> ids) const {
  return rules_.decoder.text(texts_of(ids));
}

}  // namespace hydra
