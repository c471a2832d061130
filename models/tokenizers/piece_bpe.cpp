#include "models/tokenizers/piece_bpe.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

piece_bpe::piece_bpe(tokenizer_parts given, piece_bpe_rules rules)
    : word_tokenizer{std::move(given), std::move(rules.bpe.words)},
      rules_{std::move(rules)},
      bytes_{parts().tokens},
      ascii_(128) {
  for (const auto& [token, id] : parts().tokens.ids()) {
    if (token.empty() || first_code_point(token).length != token.size()) continue;
    const char32_t c = first_code_point(token).value;
    c < ascii_.size() ? void(ascii_[c] = id) : void(others_.emplace(c, id));
  }
  find_neighbours();
}

void piece_bpe::find_neighbours() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& [token, id] : parts().tokens.ids()) {
    std::optional<std::uint32_t> before;
    for (std::string_view rest = token; !rest.empty(); rest.remove_prefix(first_code_point(rest).length)) {
      const auto next = character(first_code_point(rest).value);
      if (before && next) pairs.emplace_back(*before, *next);
      before = next;
    }
  }
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());
  neighbours_ = merge_table{pairs.size()};
  for (const auto& [left, right] : pairs) neighbours_.add(left, right, {});
}

std::optional<std::uint32_t> piece_bpe::character(char32_t c) const {
  if (c < ascii_.size()) return ascii_[c];
  const auto found = others_.find(c);
  return found == others_.end() ? std::nullopt : std::optional{found->second};
}

void piece_bpe::cut(std::string_view word, const pre_tokenizer::sink& part) const {
  std::optional<std::uint32_t> before;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < word.size();) {
    const code_point c = first_code_point(word.substr(at));
    const auto next = character(c.value);
    if (before && next && !neighbours_.find(*before, *next)) {
      part(word.substr(begin, at - begin));
      begin = at;
    }
    before = next;
    at += c.length;
  }
  part(word.substr(begin));
}

void piece_bpe::append(std::string_view word, std::vector<std::uint32_t>& ids,
                       std::vector<std::uint32_t>& symbols) const {
  const auto whole = rules_.bpe.ignore_merges ? parts().tokens.find(word) : std::nullopt;
  if (whole) return ids.push_back(*whole);
  symbols.clear();
  spell(word, symbols);
  rules_.bpe.merges.merge(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

/// As in the package, unknown characters wait for the next known one, so that bytes get before them.
void piece_bpe::spell(std::string_view word, std::vector<std::uint32_t>& symbols) const {
  std::size_t unknown = 0;
  const auto end_unknown = [&] {
    symbols.insert(symbols.end(), unknown, rules_.bpe.unknown.value_or(0));
    unknown = 0;
  };
  while (!word.empty()) {
    const code_point c = first_code_point(word);
    const std::string_view one = word.substr(0, c.length);
    word.remove_prefix(c.length);
    if (const auto id = character(c.value)) {
      end_unknown();
      symbols.push_back(*id);
    } else if (!rules_.byte_fallback || !bytes_.append(one, symbols)) {
      if (!rules_.bpe.unknown)
        refuse(fmt::format("{} of the text has no token in {}, and there is no unknown token", in_quotes(one),
                           parts().file));
      if (unknown > 0 && !rules_.bpe.fuse_unknown) end_unknown();
      unknown = 1;
    }
  }
  end_unknown();
}

std::string piece_bpe::decode_known(std::span<const std::uint32_t> ids) const {
  return rules_.decoder.text(texts_of(ids));
}

}  // namespace hydra
