#pragma once
// The tokens that a text starts with.

#include "models/tokenizers/token_table.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hydra {

/// A trie of bytes in the order of its levels: the children of a node are neighbours, ordered by byte.
class token_trie {
 public:
  explicit token_trie(const token_table& tokens);

  /// Calls `found(length, id)` for each token that the text starts with, the shortest first.
  template <class Found>
  void prefixes(std::string_view text, const Found& found) const {
    std::uint32_t node = 0;
    for (std::size_t length = 0; length < text.size();) {
      const auto next = child(node, static_cast<unsigned char>(text[length++]));
      if (!next) return;
      node = *next;
      if (ids_[node] != no_id) found(length, ids_[node]);
    }
  }

 private:
  static constexpr std::uint32_t no_id = ~std::uint32_t{0};

  std::optional<std::uint32_t> child(std::uint32_t node, unsigned char byte) const noexcept;
  std::uint32_t add_node(unsigned char byte);

  std::vector<unsigned char> bytes_;     ///< by node, on the way from its parent
  std::vector<std::uint32_t> ids_;       ///< by node
  std::vector<std::uint32_t> children_;  ///< by node: the first one; the next node's is their end
};

}  // namespace hydra
