#include "models/tokenizers/added_tokens.hpp"

#include "models/tokenizers/unicode.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

bool ends_in_word(std::string_view text) { return !text.empty() && is_word(last_code_point(text).value); }
bool begins_with_word(std::string_view text) { return !text.empty() && is_word(first_code_point(text).value); }

std::size_t end_without_space(std::string_view text) {
  while (!text.empty() && is_white_space(last_code_point(text).value)) text.remove_suffix(last_code_point(text).length);
  return text.size();
}

std::size_t space_at_start(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_white_space(first_code_point(text.substr(length)).value))
    length += first_code_point(text.substr(length)).length;
  return length;
}

std::vector<added_token> with_flag(const std::vector<added_token>& tokens, bool normalized,
                                   const normalizers& normalize) {
  std::vector<added_token> chosen;
  for (added_token t : tokens) {
    if (t.normalized != normalized) continue;
    t.content = searched_form(t, normalize);
    if (!t.content.empty()) chosen.push_back(std::move(t));
  }
  return chosen;
}

}  // namespace

std::string searched_form(const added_token& token, const normalizers& normalize) {
  const auto form = token.normalized ? normalized_by(normalize, token.content) : std::nullopt;
  return form ? *form : token.content;
}

token_finder::token_finder(std::vector<added_token> tokens) : tokens_{std::move(tokens)} {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string& content = tokens_[i].content;
    places_.emplace(content, static_cast<std::uint32_t>(i));
    auto& lengths = lengths_[static_cast<unsigned char>(content.front())];
    if (!std::ranges::count(lengths, content.size())) lengths.push_back(content.size());
  }
  for (auto& lengths : lengths_) std::ranges::sort(lengths, std::greater<>{});
}

const added_token* token_finder::token_at(std::string_view text) const {
  for (const std::size_t length : lengths_[static_cast<unsigned char>(text.front())]) {
    const auto found = length <= text.size() ? places_.find(text.substr(0, length)) : places_.end();
    if (found != places_.end()) return &tokens_[found->second];
  }
  return nullptr;
}

void token_finder::split(std::string_view text, const piece_sink& sink) const {
  std::size_t done = 0, at = 0;
  const auto take = [&](const added_token& t, std::size_t begin, std::size_t end) {
    const std::string_view before = text.substr(0, begin), behind = text.substr(end);
    if (t.single_word && (ends_in_word(before) || begins_with_word(behind))) return;
    if (t.lstrip) begin = end_without_space(before);
    if (begin > done) sink.text(text.substr(done, begin - done));
    sink.token(t.id);
    done = t.rstrip ? end + space_at_start(behind) : end;
  };
  while (!tokens_.empty() && at < text.size()) {
    const added_token* const found = token_at(text.substr(at));
    if (found) take(*found, at, at + found->content.size());
    at += found ? found->content.size() : 1;
  }
  if (done < text.size()) sink.text(text.substr(done));
}

added_tokens::added_tokens(const std::vector<added_token>& tokens, normalizers normalize)
    : normalize_{std::move(normalize)},
      raw_{with_flag(tokens, false, normalize_)},
      normalized_{with_flag(tokens, true, normalize_)} {}

void added_tokens::split(std::string_view text, made_texts& made, const piece_sink& sink) const {
  const auto normalised = [&](std::string_view piece) {
    if (auto other = normalized_by(normalize_, piece)) piece = made.emplace_back(std::move(*other));
    normalized_.split(piece, sink);
  };
  raw_.split(text, {normalised, sink.token});
}

}  // namespace hydra
