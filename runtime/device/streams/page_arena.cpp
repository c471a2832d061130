#include "runtime/device/streams/page_arena.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hydra {

namespace {

constexpr auto none_fits = std::numeric_limits<std::size_t>::max();

}  // namespace

page_arena::page_arena(byte_count page, std::size_t pages, std::size_t spread)
    : page_(page.value()), pages_(pages), places_(pages * spread) {
  for (std::size_t p = pages; p > 0; --p) {
    spare_.push_back(p - 1);
  }
  segments_.push_back({.begin = 0, .end = page_ * places_.size()});
}

/// All neighbours, from `first` on, that the queue may use.
page_arena::run page_arena::run_from(std::size_t first, queue_kind queue) const {
  run r{.first = first, .past = first, .begin = segments_[first].begin, .end = segments_[first].begin};
  for (; r.past < segments_.size() && segments_[r.past].free_for(queue); ++r.past) {
    r.end = segments_[r.past].end;
  }
  return r;
}

std::size_t page_arena::missing(std::uint64_t begin, std::uint64_t n) const {
  std::size_t count = 0;
  for (auto p = first_place(begin); p < past_place(begin + n); ++p) {
    count += places_[p].page ? 0 : 1;
  }
  return count;
}

/// A window at one of the two ends of a run of segments, or at the first whole page in it: the one that misses the
/// fewest pages, the first of equals.
std::optional<page_arena::window> page_arena::find(std::uint64_t n, queue_kind queue) const {
  std::optional<window> best;
  for (std::size_t i = 0; i < segments_.size();) {
    const auto r = run_from(i, queue);
    i = std::max(r.past, i + 1);
    if (r.end - r.begin < n) {
      continue;
    }
    for (const auto begin : {r.begin, past_place(r.begin) * page_, r.end - n}) {
      const auto lacks = begin + n <= r.end ? missing(begin, n) : none_fits;
      if (!best || lacks < best->missing) {
        best = {r, begin, lacks};
      }
    }
    if (best->missing == 0) {
      break;
    }
  }
  return best;
}

/// Places outside of [begin, end) whose pages are unused, the highest first.
std::vector<std::size_t> page_arena::idle_places(std::size_t n, std::uint64_t begin, std::uint64_t end) const {
  std::vector<std::size_t> found;
  for (auto p = places_.size(); p > 0 && found.size() < n; --p) {
    const bool outside = p - 1 < first_place(begin) || p - 1 >= past_place(end);
    if (outside && places_[p - 1].page && places_[p - 1].users == 0) {
      found.push_back(p - 1);
    }
  }
  return found;
}

/// Maps pages to all of the window, spare ones first. False: there are too few; nothing was changed.
bool page_arena::supply(taking& t, const window& w, std::uint64_t n) {
  if (w.missing > spare_.size()) {
    t.unmapped = idle_places(w.missing - spare_.size(), w.begin, w.begin + n);
    if (w.missing > spare_.size() + t.unmapped.size()) {
      return false;
    }
  }
  for (const auto p : t.unmapped) {
    spare_.push_back(*places_[p].page);
    places_[p].page.reset();
  }
  moves_ += t.unmapped.size();
  for (auto p = first_place(w.begin); p < past_place(w.begin + n); ++p) {
    if (!places_[p].page) {
      places_[p].page = spare_.back();
      spare_.pop_back();
      t.mapped.emplace_back(p, *places_[p].page);
    }
  }
  return true;
}

std::optional<page_arena::taking> page_arena::take(byte_count n, queue_kind queue) {
  const auto bytes = charged_bytes(std::max(n, byte_count{1})).value();
  const auto where = find(bytes, queue);
  taking t;
  if (!where || !supply(t, *where, bytes)) {
    return std::nullopt;
  }
  t.offset = where->begin;
  carve(where->in, t.offset, t.offset + bytes);
  used_ += byte_count{bytes};
  peak_ = std::max(peak_, used_);
  return t;
}

/// Adds `change` to the number of users of the places that the segment touches.
void page_arena::count_user(const segment& s, int change) {
  if (s.free_for_all()) {
    return;
  }
  for (auto p = first_place(s.begin); p < past_place(s.end); ++p) {
    places_[p].users += static_cast<std::uint32_t>(change);
  }
}

/// Replaces the run's segments; what remains on either side keeps its state.
void page_arena::carve(const run& where, std::uint64_t begin, std::uint64_t end) {
  std::vector<segment> parts{{.begin = begin, .end = end, .used = true}};
  for (auto i = where.first; i < where.past; ++i) {
    const auto& whole = segments_[i];
    count_user(whole, -1);
    auto left = whole;
    left.end = std::min(whole.end, begin);
    auto right = whole;
    right.begin = std::max(whole.begin, end);
    for (const auto& rest : {left, right}) {
      if (rest.begin < rest.end) {
        parts.push_back(rest);
      }
    }
  }
  std::ranges::sort(parts, {}, &segment::begin);
  for (const auto& s : parts) {
    count_user(s, 1);
  }
  const auto at = segments_.begin() + static_cast<std::ptrdiff_t>(where.first);
  const auto after = segments_.erase(at, segments_.begin() + static_cast<std::ptrdiff_t>(where.past));
  segments_.insert(after, parts.begin(), parts.end());
}

void page_arena::give(std::uint64_t offset, const std::optional<launch_point>& freed_at) {
  const auto found = std::ranges::lower_bound(segments_, offset, {}, &segment::begin);
  if (found == segments_.end() || found->begin != offset || !found->used) {
    throw fault_error(fault_code::internal, fmt::format("nothing was taken at offset {} of a device's memory", offset));
  }
  used_ -= byte_count{found->end - found->begin};
  count_user(*found, -1);
  found->used = false;
  found->freed_at = freed_at;
  count_user(*found, 1);
  merge_with_next(static_cast<std::size_t>(found - segments_.begin()));
  if (found != segments_.begin()) {
    merge_with_next(static_cast<std::size_t>(found - segments_.begin()) - 1);
  }
}

bool page_arena::are_one(const segment& a, const segment& b) noexcept {
  return !a.used && !b.used && a.freed_at == b.freed_at;
}

/// A page touched by two merged segments is counted once instead of twice.
void page_arena::merge_with_next(std::size_t index) {
  if (index + 1 >= segments_.size() || !are_one(segments_[index], segments_[index + 1])) {
    return;
  }
  count_user(segments_[index], -1);
  count_user(segments_[index + 1], -1);
  segments_[index].end = segments_[index + 1].end;
  count_user(segments_[index], 1);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
}

void page_arena::merge_all() {
  std::vector<segment> merged;
  merged.reserve(segments_.size());
  for (const auto& s : segments_) {
    if (merged.empty() || !are_one(merged.back(), s)) {
      merged.push_back(s);
      continue;
    }
    count_user(merged.back(), -1);
    count_user(s, -1);
    merged.back().end = s.end;
    count_user(merged.back(), 1);
  }
  segments_ = std::move(merged);
}

void page_arena::retire(const launch_point& done) {
  bool changed = false;
  for (auto& s : segments_) {
    if (!s.used && s.freed_at && s.freed_at->queue == done.queue && s.freed_at->operation <= done.operation) {
      count_user(s, -1);
      s.freed_at.reset();
      changed = true;
    }
  }
  if (changed) {
    merge_all();
  }
}

}  // namespace hydra
