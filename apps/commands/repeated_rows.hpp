#pragma once
// Rows of a table that repeat what stands above them.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

/// Rows [first, first + rows) stand `times` times, one after the other.
struct repeated_rows {
  std::size_t first = 0, rows = 1, times = 1;
  std::size_t spared() const noexcept { return rows * (times - 1); }
  std::size_t past() const noexcept { return first + rows * times; }
  friend bool operator==(const repeated_rows&, const repeated_rows&) = default;
};

/// Those that spare most, of equal ones the shortest; none if that are fewer than `least`. Rows are equal whose `texts`
/// are.
std::optional<repeated_rows> most_repeated(std::span<const std::string> texts, std::size_t least);

}  // namespace hydra::apps
