#include "models/tokenizers/token_trie.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// The tokens of a node: neighbours in the sorted list, with a common prefix.
struct node_range {
  std::size_t begin = 0, end = 0, depth = 0;
};

using sorted_tokens = std::vector<std::pair<std::string_view, std::uint32_t>>;

sorted_tokens sorted(const token_table& tokens) {
  sorted_tokens all(tokens.ids().begin(), tokens.ids().end());
  std::erase_if(all, [](const auto& token) { return token.first.empty(); });
  std::ranges::sort(all);
  return all;
}

}  // namespace

token_trie::token_trie(const token_table& tokens) {
  const sorted_tokens all = sorted(tokens);
  std::vector<node_range> ranges{{0, all.size(), 0}};
  add_node(0);
  for (std::size_t node = 0; node < ranges.size(); ++node) {
    auto [at, end, depth] = ranges[node];
    if (at < end && all[at].first.size() == depth && depth > 0) ids_[node] = all[at++].second;
    children_[node] = static_cast<std::uint32_t>(ranges.size());
    while (at < end) {
      const char byte = all[at].first[depth];
      const std::size_t begin = at;
      while (at < end && all[at].first[depth] == byte) ++at;
      ranges.push_back({begin, at, depth + 1});
      add_node(static_cast<unsigned char>(byte));
    }
  }
  children_.push_back(static_cast<std::uint32_t>(ranges.size()));
}

std::uint32_t token_trie::add_node(unsigned char byte) {
  bytes_.push_back(byte);
  ids_.push_back(no_id);
  children_.push_back(0);
  return static_cast<std::uint32_t>(bytes_.size() - 1);
}

std::optional<std::uint32_t> token_trie::child(std::uint32_t node, unsigned char byte) const noexcept {
  const std::uint32_t begin = children_[node], count = children_[node + 1] - begin;
  const void* const found = count == 0 ? nullptr : std::memchr(&bytes_[begin], byte, count);
  if (!found) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<const unsigned char*>(found) - bytes_.data());
}

}  // namespace hydra
