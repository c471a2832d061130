#pragma once
// The newest spans in a bounded number of bytes: times and texts are stored one after the other, in pieces of equal
// size.

#include "runtime/base/bytes.hpp"
#include "runtime/trace/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace hydra {

/// A stored span; valid until the next push.
struct span_view {
  std::string_view name;
  std::string_view track;
  time_point begin;
  time_point end;
  std::string_view detail;
};

/// Not thread-safe.
class span_ring {
 public:
  explicit span_ring(byte_count limit);

  /// Drops the earliest piece if there is not enough space.
  void push(const span& s);

  template <class Function>
  void for_each(const Function& take) const {
    for (const auto& p : pieces_) {
      for (std::size_t at = 0; at < p.bytes.size();) {
        take(read(p, at));
      }
    }
  }

  std::uint64_t size() const noexcept { return recorded_ - dropped_; }
  byte_count bytes() const noexcept { return piece_size_ * pieces_.size(); }
  std::uint64_t dropped() const noexcept { return dropped_; }
  /// Earliest start of all spans, including dropped ones.
  std::optional<time_point> earliest() const noexcept { return earliest_; }

 private:
  struct piece {
    std::vector<char> bytes;   ///< never exceeds its initial capacity
    std::uint64_t spans = 0;
  };
  /// Advances `at` past the span it returns.
  static span_view read(const piece& p, std::size_t& at);
  piece& piece_with_room(std::size_t n);

  byte_count piece_size_;
  std::size_t most_pieces_;
  std::deque<piece> pieces_;
  std::uint64_t recorded_ = 0;
  std::uint64_t dropped_ = 0;
  std::optional<time_point> earliest_;
};

}  // namespace hydra
