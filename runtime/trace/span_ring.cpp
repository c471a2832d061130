#include "runtime/trace/span_ring.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace hydra {

namespace {

/// Stored before the texts.
struct header {
  time_point begin;
  duration length;
  std::array<std::uint16_t, 3> sizes;   ///< of name, track, detail
};

constexpr std::size_t most_pieces = 64;
constexpr std::size_t longest_text = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t longest_span = sizeof(header) + 3 * longest_text;

std::string_view shortened(const std::string& text) { return std::string_view{text}.substr(0, longest_text); }

void append(std::vector<char>& bytes, std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

}  // namespace

/// Any span fits into a piece.
span_ring::span_ring(byte_count limit)
    : piece_size_(std::max<std::uint64_t>(limit.value() / most_pieces, longest_span)),
      most_pieces_(std::max<std::size_t>(limit.value() / piece_size_.value(), 1)) {}

void span_ring::push(const span& s) {
  const std::array texts{shortened(s.name), shortened(s.track), shortened(s.detail)};
  header h{s.begin, s.end - s.begin, {}};
  std::size_t n = sizeof(header);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    h.sizes[i] = static_cast<std::uint16_t>(texts[i].size());
    n += texts[i].size();
  }
  auto& p = piece_with_room(n);
  append(p.bytes, {reinterpret_cast<const char*>(&h), sizeof(h)});
  std::ranges::for_each(texts, [&](std::string_view text) { append(p.bytes, text); });
  ++p.spans;
  ++recorded_;
  earliest_ = std::min(earliest_.value_or(s.begin), s.begin);
}

span_ring::piece& span_ring::piece_with_room(std::size_t n) {
  if (pieces_.empty() || pieces_.back().bytes.size() + n > piece_size_.value()) {
    piece next;
    if (pieces_.size() == most_pieces_) {
      next = std::move(pieces_.front());
      pieces_.pop_front();
      dropped_ += std::exchange(next.spans, 0);
      next.bytes.clear();
    }
    next.bytes.reserve(piece_size_.value());
    pieces_.push_back(std::move(next));
  }
  return pieces_.back();
}

span_view span_ring::read(const piece& p, std::size_t& at) {
  header h;
  std::memcpy(&h, p.bytes.data() + at, sizeof(h));
  at += sizeof(h);
  const auto text = [&](std::size_t i) {
    const std::string_view found{p.bytes.data() + at, h.sizes[i]};
    at += found.size();
    return found;
  };
  const auto name = text(0);
  const auto track = text(1);
  return {name, track, h.begin, h.begin + h.length, text(2)};
}

}  // namespace hydra
