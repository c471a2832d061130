#include "models/tokenizers/pair_counts.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint64_t key_of(std::uint32_t left, std::uint32_t right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

}  // namespace

pair_counts::pair_counts(std::vector<counted_word> words) : words_{std::move(words)} {
  for (std::size_t w = 0; w < words_.size(); ++w)
    for (std::size_t i = 0; i + 1 < words_[w].symbols.size(); ++i)
      add(key_of(words_[w].symbols[i], words_[w].symbols[i + 1]), w);
  for (const auto& [which, found] : places_) queue_.push({found.count, which});
  for (const key k : grown_) places_[k].offered = false;
  grown_.clear();
}

std::optional<pair_counts::pair> pair_counts::most_frequent() {
  while (!queue_.empty()) {
    const auto [count, which] = queue_.top();
    const auto found = places_.find(which);
    const std::int64_t now = found == places_.end() ? 0 : found->second.count;
    if (now == count) return pair{static_cast<std::uint32_t>(which >> 32), static_cast<std::uint32_t>(which), count};
    queue_.pop();
    if (now > 0) queue_.push({now, which});
  }
  return std::nullopt;
}

void pair_counts::merge(const pair& p, std::uint32_t merged) {
  const key which = key_of(p.left, p.right);
  std::vector<std::uint32_t> words = std::move(places_[which].words);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  for (const std::uint32_t w : words) merge_in(w, p, merged);
  places_.erase(which);
  for (const key k : grown_) {
    const auto found = places_.find(k);
    if (found == places_.end()) continue;
    found->second.offered = false;
    if (found->second.count > 0) queue_.push({found->second.count, k});
  }
  grown_.clear();
}

void pair_counts::add(key which, std::size_t word) {
  auto& p = places_[which];
  p.count += words_[word].count;
  if (p.words.empty() || p.words.back() != word) p.words.push_back(static_cast<std::uint32_t>(word));
  if (!std::exchange(p.offered, true)) grown_.push_back(which);
}

void pair_counts::remove(key which, std::size_t word) { places_[which].count -= words_[word].count; }

void pair_counts::merge_in(std::size_t word, const pair& p, std::uint32_t merged) {
  std::vector<std::uint32_t>& symbols = words_[word].symbols;
  std::size_t out = 0;
  for (std::size_t in = 0; in < symbols.size(); ++in) {
    if (in + 1 == symbols.size() || symbols[in] != p.left || symbols[in + 1] != p.right) {
      symbols[out++] = symbols[in];
      continue;
    }
    if (out > 0) {
      remove(key_of(symbols[out - 1], p.left), word);
      add(key_of(symbols[out - 1], merged), word);
    }
    if (in + 2 < symbols.size()) {
      remove(key_of(p.right, symbols[in + 2]), word);
      add(key_of(merged, symbols[in + 2]), word);
    }
    symbols[out++] = merged;
    ++in;
  }
  symbols.resize(out);
}

}  // namespace hydra
