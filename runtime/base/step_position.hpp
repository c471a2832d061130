#pragma once
// How far a model is. Standard library only (policies include this file).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

/// The step, and how many of its training units have completed in each lane (a prefix of it).
struct step_position {
  std::uint32_t step = 0;
  std::vector<std::uint32_t> units{};  ///< empty: none
  std::uint32_t done(std::size_t lane) const noexcept { return lane < units.size() ? units[lane] : 0; }
  bool begins_step() const noexcept {
    return std::all_of(units.begin(), units.end(), [](std::uint32_t n) { return n == 0; });
  }
  friend bool operator==(const step_position&, const step_position&) = default;
};

}  // namespace hydra
