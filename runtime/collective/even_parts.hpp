#pragma once
// How the replicas of a step are divided among nodes.

#include <cstdint>
#include <vector>

namespace hydra {

/// As many parts, none of which is larger than another one by more than 1.
inline std::vector<std::uint32_t> even_parts(std::uint32_t whole, std::uint32_t parts) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < parts; ++i) {
    all.push_back(whole * (i + 1) / parts - whole * i / parts);
  }
  return all;
}

/// The node of each replica, for nodes with so many of them.
inline std::vector<std::uint32_t> nodes_of_replicas(const std::vector<std::uint32_t>& parts) {
  std::vector<std::uint32_t> node_of;
  for (std::uint32_t n = 0; n < parts.size(); ++n) {
    node_of.insert(node_of.end(), parts[n], n);
  }
  return node_of;
}

}  // namespace hydra
