#pragma once
// Words of a text whose ids are known already.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hydra {

/// Of fixed size: a new word replaces another one. Its ids are found in the result, where they were first written.
class word_cache {
 public:
  struct entry {
    std::string_view word;
    std::size_t begin = 0, count = 0;  ///< of its ids in the result
  };

  /// For a text of this many bytes.
  explicit word_cache(std::size_t bytes) : entries_(std::bit_ceil(std::clamp<std::size_t>(bytes / 8, 1, 1 << 15))) {}

  /// The entry of this word, or the one that it replaces.
  entry& at(std::string_view word) noexcept {
    return entries_[std::hash<std::string_view>{}(word) & (entries_.size() - 1)];
  }

 private:
  std::vector<entry> entries_;
};

}  // namespace hydra
