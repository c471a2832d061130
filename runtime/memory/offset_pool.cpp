#include "runtime/memory/offset_pool.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

constexpr std::uint64_t rounded(std::uint64_t n, std::uint64_t to) noexcept { return (n + to - 1) / to * to; }

}  // namespace

offset_pool::offset_pool(std::uint64_t size, std::uint64_t border) : size_{size}, border_{border} {
  for (std::uint64_t at = 0; at < size; at += border) add(at, std::min(border, size - at));
}

/// Keeps this many list nodes, in use and spare, with capacity for all of them as spares, so that changing the ranges
/// allocates nothing.
void offset_pool::provide(std::size_t nodes) {
  if (spare_ranges_.capacity() < nodes) {
    spare_sizes_.reserve(2 * nodes);
    spare_ranges_.reserve(2 * nodes);
  }
  while (ranges_.size() + spare_ranges_.size() < nodes) {
    offsets one;
    sizes same;
    one.emplace(0, 0);
    same.emplace(0, 0);
    spare_ranges_.push_back(one.extract(one.begin()));
    spare_sizes_.push_back(same.extract(same.begin()));
  }
}

void offset_pool::add(std::uint64_t offset, std::uint64_t n) {
  if (n == 0) return;
  if (spare_ranges_.empty()) provide(ranges_.size() + 1);
  auto range = std::move(spare_ranges_.back());
  auto same = std::move(spare_sizes_.back());
  spare_ranges_.pop_back();
  spare_sizes_.pop_back();
  range.key() = offset;
  range.mapped() = n;
  same.value() = {n, offset};
  ranges_.insert(std::move(range));
  by_size_.insert(std::move(same));
  free_ += n;
}

void offset_pool::remove(std::uint64_t offset, std::uint64_t n) {
  spare_ranges_.push_back(ranges_.extract(offset));
  spare_sizes_.push_back(by_size_.extract(std::pair{n, offset}));
  free_ -= n;
}

std::optional<std::uint64_t> offset_pool::take(std::uint64_t n, std::uint64_t alignment) {
  if (n > size_) return std::nullopt;  // the sums below cannot overflow
  n = rounded(n, unit);
  for (auto it = by_size_.lower_bound({n, 0}); it != by_size_.end(); ++it) {
    const auto [size, begin] = *it;
    const std::uint64_t end = begin + size;
    const std::uint64_t at = alignment > unit ? rounded(begin, alignment) : end - n;
    if (at + n > end) continue;
    provide(taken_ + 2);  // this place, once taken, may split its range into two free ones
    ++taken_;
    remove(begin, size);
    add(begin, at - begin);
    add(at + n, end - (at + n));
    return at;
  }
  return std::nullopt;
}

void offset_pool::give_back(std::uint64_t offset, std::uint64_t n) {
  n = rounded(n, unit);
  const auto next = ranges_.lower_bound(offset);
  const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
  const std::uint64_t end = offset + n;
  const bool overlaps = (next != ranges_.end() && next->first < end) ||
                        (before != ranges_.end() && before->first + before->second > offset) || end > size_;
  if (overlaps)
    throw fault_error{fault_code::internal,
                      fmt::format("a place of {} bytes at {} is returned, but it was not taken", n, offset)};
  if (taken_ > 0) --taken_;
  std::uint64_t from = offset, to = end;
  const bool ends_at_border = end % border_ == 0, begins_at_border = offset % border_ == 0;
  if (next != ranges_.end() && next->first == end && !ends_at_border) to += next->second;
  if (before != ranges_.end() && before->first + before->second == offset && !begins_at_border) from = before->first;
  if (to != end) remove(end, to - end);
  if (from != offset) remove(from, offset - from);
  add(from, to - from);
}

}  // namespace hydra
