#include "runtime/streams/range_arena.hpp"

#include "runtime/accounting_allocator.hpp"
#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

range_arena::range_arena(byte_count size) : size_(byte_count{size.value() / 512 * 512}) {
  segments_.push_back({.begin = 0, .end = size_.value()});
}

/// All neighbours, from `first` on, that the queue may take.
range_arena::run range_arena::run_from(std::size_t first, queue_kind queue) const {
  run r{.first = first, .past = first, .begin = segments_[first].begin, .end = segments_[first].begin};
  for (; r.past < segments_.size() && segments_[r.past].free_for(queue); ++r.past) {
    r.end = segments_[r.past].end;
  }
  return r;
}

/// The lowest run that is large enough; for copies the highest.
std::optional<range_arena::run> range_arena::find(std::uint64_t n, queue_kind queue) const {
  std::optional<run> found;
  for (std::size_t i = 0; i < segments_.size();) {
    const auto r = run_from(i, queue);
    if (r.end - r.begin >= n) {
      found = r;
      if (queue == queue_kind::compute) {
        return found;
      }
    }
    i = std::max(r.past, i + 1);
  }
  return found;
}

/// Replaces the run's segments: what is left of them on either side stays as free as it was.
void range_arena::carve(const run& where, std::uint64_t begin, std::uint64_t end) {
  std::vector<segment> parts;
  for (auto i = where.first; i < where.past; ++i) {
    auto left = segments_[i];
    left.end = std::min(left.end, begin);
    if (left.begin < left.end) {
      parts.push_back(left);
    }
  }
  parts.push_back({.begin = begin, .end = end, .used = true});
  for (auto i = where.first; i < where.past; ++i) {
    auto right = segments_[i];
    right.begin = std::max(right.begin, end);
    if (right.begin < right.end) {
      parts.push_back(right);
    }
  }
  const auto at = segments_.begin() + static_cast<std::ptrdiff_t>(where.first);
  const auto after = segments_.erase(at, segments_.begin() + static_cast<std::ptrdiff_t>(where.past));
  segments_.insert(after, parts.begin(), parts.end());
}

std::optional<std::uint64_t> range_arena::take(byte_count n, queue_kind queue) {
  const auto bytes = charged_bytes(std::max(n, byte_count{1})).value();
  const auto where = find(bytes, queue);
  if (!where) {
    return std::nullopt;
  }
  const auto begin = queue == queue_kind::compute ? where->begin : where->end - bytes;
  carve(*where, begin, begin + bytes);
  used_ += byte_count{bytes};
  peak_ = std::max(peak_, used_);
  return begin;
}

void range_arena::give(std::uint64_t offset, const std::optional<launch_point>& freed_at) {
  const auto found = std::ranges::lower_bound(segments_, offset, {}, &segment::begin);
  if (found == segments_.end() || found->begin != offset || !found->used) {
    throw fault_error(fault_code::internal, fmt::format("nothing was taken at offset {} of a device's memory", offset));
  }
  used_ -= byte_count{found->size()};
  found->used = false;
  found->freed_at = freed_at;
  merge_around(static_cast<std::size_t>(found - segments_.begin()));
}

/// Neighbours that are free for the same and until the same are one.
void range_arena::merge_around(std::size_t index) {
  const auto same = [this](std::size_t a, std::size_t b) {
    return !segments_[a].used && !segments_[b].used && segments_[a].freed_at == segments_[b].freed_at;
  };
  if (index + 1 < segments_.size() && same(index, index + 1)) {
    segments_[index].end = segments_[index + 1].end;
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  }
  if (index > 0 && same(index - 1, index)) {
    segments_[index - 1].end = segments_[index].end;
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

void range_arena::merge_all() {
  std::vector<segment> merged;
  for (const auto& s : segments_) {
    const bool joins = !merged.empty() && !merged.back().used && !s.used && merged.back().freed_at == s.freed_at;
    if (joins) {
      merged.back().end = s.end;
    } else {
      merged.push_back(s);
    }
  }
  segments_ = std::move(merged);
}

void range_arena::retire(const launch_point& done) {
  bool changed = false;
  for (auto& s : segments_) {
    if (!s.used && s.freed_at && s.freed_at->queue == done.queue && s.freed_at->operation <= done.operation) {
      s.freed_at.reset();
      changed = true;
    }
  }
  if (changed) {
    merge_all();
  }
}

byte_count range_arena::largest(queue_kind queue) const {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < segments_.size();) {
    const auto r = run_from(i, queue);
    most = std::max(most, r.end - r.begin);
    i = std::max(r.past, i + 1);
  }
  return byte_count{most};
}

bool range_arena::waits() const noexcept {
  return std::ranges::any_of(segments_, [](const segment& s) { return !s.used && s.freed_at.has_value(); });
}

}  // namespace hydra
