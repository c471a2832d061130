#pragma once
// The merges of byte-pair encoding, and their application to a word.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

/// Which two neighbours become which token, and with which priority.
class merge_table {
 public:
  struct rule {
    std::uint32_t rank = 0;  ///< lower ones come first
    std::uint32_t merged = 0;
  };

  explicit merge_table(std::size_t rules);  ///< maximum number of rules that will be added
  /// If there are two rules for one pair, the later one counts.
  void add(std::uint32_t left, std::uint32_t right, rule r);
  /// Null if the two do not merge. Valid as long as the table is unchanged.
  const rule* find(std::uint32_t left, std::uint32_t right) const noexcept;

  /// Merges the symbols of a word in place: always the pair of the lowest rank, the leftmost of equal ones.
  void merge(std::vector<std::uint32_t>& symbols) const;

 private:
  std::size_t slot_of(std::uint64_t pair) const noexcept;

  std::vector<std::uint64_t> pairs_;  ///< open addressing, a power of two
  std::vector<rule> rules_;
};

/// The implementations of merge() for words up to, and above, about thirty symbols; the results are the same.
void merge_by_scanning(const merge_table& table, std::vector<std::uint32_t>& symbols);  ///< O(n^2)
void merge_by_queue(const merge_table& table, std::vector<std::uint32_t>& symbols);     ///< O(n log n)

}  // namespace hydra
