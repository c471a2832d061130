#include "models/tokenizers/file_tokenizer.hpp"

#include "models/tokenizers/unicode.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

/// Lists have an entry for every id below the largest one: a small file must not cause an allocation of gigabytes.
void require_dense_ids(const tokenizer_parts& parts) {
  const std::size_t tokens = parts.tokens.ids().size() + parts.added.size();
  std::size_t places = parts.tokens.size();
  for (const added_token& t : parts.added) places = std::max<std::size_t>(places, t.id + std::size_t{1});
  if (places > 16 * tokens + 65536)
    refuse(fmt::format("{}: {} tokens have ids up to {}: too far apart", parts.file, tokens, places - 1));
}

}  // namespace

file_tokenizer::file_tokenizer(tokenizer_parts parts)
    : parts_{std::move(parts)}, finder_{parts_.added, parts_.normalize} {
  require_dense_ids(parts_);
  for (const added_token& t : parts_.added) {
    added_ids_.emplace(t.content, t.id);
    if (added_.size() <= t.id) added_.resize(t.id + 1);
    added_[t.id] = searched_form(t, parts_.normalize);
  }
}

void file_tokenizer::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
  require_utf8(text);
  made_texts made;
  const auto pieces = begin(text.size(), made, ids);
  finder_.split(text, made,
                {[&](std::string_view piece) { pieces->encode(piece); }, [&](std::uint32_t id) { ids.push_back(id); }});
}

std::string file_tokenizer::decode(std::span<const std::uint32_t> ids) const {
  const auto wrong = std::ranges::find_if(ids, [this](std::uint32_t id) { return id >= vocabulary(); });
  if (wrong != ids.end())
    refuse(fmt::format("token {}: the id {} is not below {}, the vocabulary of {}", wrong - ids.begin(), *wrong,
                       vocabulary(), describe()));
  return decode_known(ids);
}

std::int64_t file_tokenizer::vocabulary() const {
  return static_cast<std::int64_t>(std::max(parts_.tokens.size(), added_.size()));
}

std::optional<std::uint32_t> file_tokenizer::id_of(std::string_view token) const {
  const auto found = added_ids_.find(token);
  return found == added_ids_.end() ? parts_.tokens.find(token) : std::optional{found->second};
}

bool file_tokenizer::joins_lines() const {
  return model_joins_lines() || std::ranges::any_of(parts_.added, [this](const added_token& t) {
           return t.lstrip || t.rstrip || t.content.find('\n') != t.content.npos ||
                  searched_form(t, parts_.normalize).find('\n') != t.content.npos;
         });
}

const std::string* file_tokenizer::token_of(std::uint32_t id) const noexcept {
  return is_added(id) ? &added_[id] : parts_.tokens.token_of(id);
}

std::vector<std::string> file_tokenizer::texts_of(std::span<const std::uint32_t> ids) const {
  std::vector<std::string> texts;
  texts.reserve(ids.size());
  for (const std::uint32_t id : ids)
    if (const std::string* const text = token_of(id)) texts.push_back(*text);
  return texts;
}

}  // namespace hydra
