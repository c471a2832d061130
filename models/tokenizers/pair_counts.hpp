#pragma once
// How often two symbols are neighbours in the words of a corpus, kept up to date while pairs are merged.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace hydra {

struct counted_word {
  std::vector<std::uint32_t> symbols;
  std::int64_t count = 0;  ///< in the corpus
};

class pair_counts {
 public:
  explicit pair_counts(std::vector<counted_word> words);

  struct pair {
    std::uint32_t left = 0, right = 0;
    std::int64_t count = 0;
  };
  /// The most frequent pair, of equals that of the lowest ids; empty when no word has two symbols.
  std::optional<pair> most_frequent();
  /// Replaces `p` by `merged` in all words, from left to right.
  void merge(const pair& p, std::uint32_t merged);

 private:
  using key = std::uint64_t;
  struct place {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  ///< those that have, or had, the pair; a word may occur twice
    bool offered = false;              ///< already in the queue for this merge
  };
  struct offer {
    std::int64_t count;
    key which;
    friend bool operator<(const offer& a, const offer& b) {
      return a.count != b.count ? a.count < b.count : a.which > b.which;
    }
  };

  void add(key which, std::size_t word);
  void remove(key which, std::size_t word);
  void merge_in(std::size_t word, const pair& p, std::uint32_t merged);

  std::vector<counted_word> words_;
  std::unordered_map<key, place> places_;
  std::priority_queue<offer> queue_;  ///< counts may be out of date, then they are too high
  std::vector<key> grown_;            ///< pairs that a merge has made
};

}  // namespace hydra
