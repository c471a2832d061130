#include "models/tokenizers/merge_table.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

constexpr std::uint64_t no_pair = ~std::uint64_t{0};
constexpr std::size_t short_word = 32;  // symbols
constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t absorbed = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

/// Symbols of a word as a doubly linked list in the order of their first bytes.
struct linked_word {
  explicit linked_word(const std::vector<std::uint32_t>& symbols)
      : ids(symbols), before(ids.size()), after(ids.size()) {
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      before[i] = i == 0 ? absorbed : i - 1;
      after[i] = i + 1 == ids.size() ? absorbed : i + 1;
    }
  }

  /// The symbol at `i` absorbs the next one.
  void join(std::uint32_t i, std::uint32_t merged) {
    const std::uint32_t gone = after[i];
    ids[i] = merged;
    ids[gone] = absorbed;
    after[i] = after[gone];
    if (after[i] != absorbed) before[after[i]] = i;
  }

  std::vector<std::uint32_t> ids;  ///< or `absorbed`
  std::vector<std::uint32_t> before, after;
};

struct candidate {
  std::uint32_t rank, at, merged;
  std::uint64_t pair;
  friend bool operator>(const candidate& a, const candidate& b) {
    return std::tie(a.rank, a.at) > std::tie(b.rank, b.at);
  }
};

}  // namespace

merge_table::merge_table(std::size_t rules) : pairs_(std::bit_ceil(2 * rules + 2), no_pair), rules_(pairs_.size()) {}

std::size_t merge_table::slot_of(std::uint64_t pair) const noexcept {
  const std::size_t mask = pairs_.size() - 1;
  std::size_t slot = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15u) >> 32) & mask;
  while (pairs_[slot] != pair && pairs_[slot] != no_pair) slot = (slot + 1) & mask;
  return slot;
}

void merge_table::add(std::uint32_t left, std::uint32_t right, rule r) {
  const std::size_t slot = slot_of(pair_of(left, right));
  pairs_[slot] = pair_of(left, right);
  rules_[slot] = r;
}

const merge_table::rule* merge_table::find(std::uint32_t left, std::uint32_t right) const noexcept {
  const std::size_t slot = slot_of(pair_of(left, right));
  return pairs_[slot] == no_pair ? nullptr : &rules_[slot];
}

void merge_table::merge(std::vector<std::uint32_t>& symbols) const {
  symbols.size() <= short_word ? merge_by_scanning(*this, symbols) : merge_by_queue(*this, symbols);
}

void merge_by_scanning(const merge_table& table, std::vector<std::uint32_t>& symbols) {
  std::vector<std::uint32_t> ranks(symbols.size(), no_rank);  // of each symbol with the next
  const auto rank_at = [&](std::size_t i) {
    const auto* const rule = i + 1 < symbols.size() ? table.find(symbols[i], symbols[i + 1]) : nullptr;
    return rule ? rule->rank : no_rank;
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) ranks[i] = rank_at(i);
  while (symbols.size() > 1) {
    const auto best = std::ranges::min_element(ranks);
    if (*best == no_rank) return;
    const auto i = best - ranks.begin();
    const auto at = static_cast<std::size_t>(i);
    symbols[at] = table.find(symbols[at], symbols[at + 1])->merged;
    symbols.erase(symbols.begin() + i + 1);
    ranks.erase(best + 1);
    ranks[at] = rank_at(at);
    if (at > 0) ranks[at - 1] = rank_at(at - 1);
  }
}

void merge_by_queue(const merge_table& table, std::vector<std::uint32_t>& symbols) {
  linked_word word{symbols};
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t i) {
    if (i == absorbed || word.after[i] == absorbed) return;
    const std::uint32_t left = word.ids[i], right = word.ids[word.after[i]];
    if (const auto* const rule = table.find(left, right))
      queue.push({rule->rank, i, rule->merged, pair_of(left, right)});
  };
  for (std::uint32_t i = 0; i < word.ids.size(); ++i) offer(i);
  while (!queue.empty()) {
    const candidate next = queue.top();
    queue.pop();
    const std::uint32_t behind = word.after[next.at];
    const bool stands = word.ids[next.at] != absorbed && behind != absorbed &&
                        pair_of(word.ids[next.at], word.ids[behind]) == next.pair;
    if (!stands) continue;
    word.join(next.at, next.merged);
    offer(next.at);
    offer(word.before[next.at]);
  }
  std::erase(word.ids, absorbed);
  symbols = std::move(word.ids);
}

}  // namespace hydra
