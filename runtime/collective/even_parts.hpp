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

}  // namespace hydra
