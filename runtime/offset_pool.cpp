#include "runtime/offset_pool.hpp"

#include "runtime/fault.hpp"

#include <fmt/format.h>

#include <iterator>

namespace hydra {
namespace {

constexpr std::uint64_t rounded(std::uint64_t n, std::uint64_t to) noexcept { return (n + to - 1) / to * to; }

}  // namespace

offset_pool::offset_pool(std::uint64_t size) : size_{size} { add(0, size); }

void offset_pool::add(std::uint64_t offset, std::uint64_t n) {
  if (n == 0) return;
  ranges_.emplace(offset, n);
  by_size_.emplace(n, offset);
  free_ += n;
}

void offset_pool::remove(std::uint64_t offset, std::uint64_t n) {
  ranges_.erase(offset);
  by_size_.erase({n, offset});
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
                      fmt::format("a place of {} bytes at {} is given back that was not taken", n, offset)};
  std::uint64_t from = offset, to = end;
  if (next != ranges_.end() && next->first == end) to += next->second;
  if (before != ranges_.end() && before->first + before->second == offset) from = before->first;
  if (to != end) remove(end, to - end);
  if (from != offset) remove(from, offset - from);
  add(from, to - from);
}

}  // namespace hydra
