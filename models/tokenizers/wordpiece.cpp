#include "models/tokenizers/wordpiece.hpp"

#include "models/tokenizers/unicode.hpp"
#include "runtime/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {

namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

/// As in the package, token by token.
void clean_up(std::string& token) {
  constexpr std::array<std::array<std::string_view, 2>, 11> rules{{{" .", "."},
                                                                   {" ?", "?"},
                                                                   {" !", "!"},
                                                                   {" ,", ","},
                                                                   {" ' ", "'"},
                                                                   {" n't", "n't"},
                                                                   {" 'm", "'m"},
                                                                   {" do not", " don't"},
                                                                   {" 's", "'s"},
                                                                   {" 've", "'ve"},
                                                                   {" 're", "'re"}}};
  for (const auto& [what, with] : rules) replace_all(token, what, with);
}

}  // namespace

class wordpiece::call final : public piece_encoder {
 public:
  call(const wordpiece& t, std::vector<std::uint32_t>& ids) : tokenizer_{t}, ids_{ids} {}

  void encode(std::string_view piece) override {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < piece.size();) {
      const code_point c = first_code_point(piece.substr(at));
      const bool space = is_white_space(c.value), alone = !space && is_punctuation(c.value);
      if (space || alone) {
        append(piece.substr(begin, at - begin));
        if (alone) append(piece.substr(at, c.length));
        begin = at + c.length;
      }
      at += c.length;
    }
    append(piece.substr(begin));
  }

 private:
  void append(std::string_view word) {
    if (!word.empty()) tokenizer_.append(word, ids_);
  }

  const wordpiece& tokenizer_;
  std::vector<std::uint32_t>& ids_;
};

wordpiece::wordpiece(tokenizer_parts given, wordpiece_rules rules)
    : file_tokenizer{std::move(given)}, rules_{std::move(rules)} {
  for (const auto& [token, id] : parts().tokens.ids()) {
    longest_ = std::max(longest_, token.size());
    if (token.starts_with(rules_.prefix)) inner_.emplace(token.substr(rules_.prefix.size()), id);
  }
}

std::unique_ptr<wordpiece::piece_encoder> wordpiece::begin(std::size_t, made_texts&,
                                                           std::vector<std::uint32_t>& ids) const {
  return std::make_unique<call>(*this, ids);
}

void wordpiece::append(std::string_view word, std::vector<std::uint32_t>& ids) const {
  const std::size_t before = ids.size();
  if (code_points(word) <= rules_.longest_word && append_pieces(word, ids)) return;
  ids.resize(before);
  ids.push_back(rules_.unknown);
}

bool wordpiece::append_pieces(std::string_view word, std::vector<std::uint32_t>& ids) const {
  const id_by_text* known = &parts().tokens.ids();
  while (!word.empty()) {
    std::size_t length = std::min(word.size(), longest_);
    auto found = known->find(word.substr(0, length));
    while (found == known->end() && --length > 0) found = known->find(word.substr(0, length));
    if (length == 0) return false;
    ids.push_back(found->second);
    word.remove_prefix(length);
    known = &inner_;
  }
  return true;
}

std::string wordpiece::decode_known(std::span<const std::uint32_t> ids) const {
  std::string text;
  bool first = true;
  for (const std::uint32_t id : ids) {
    const std::string* const written = token_of(id);
    if (!written) continue;
    std::string token = *written;
    if (!first && token.starts_with(rules_.decoder_prefix))
      token.erase(0, rules_.decoder_prefix.size());
    else if (!first)
      token = " " + *written;
    if (rules_.cleanup) clean_up(token);
    text += token;
    first = false;
  }
  return text;
}

}  // namespace hydra
