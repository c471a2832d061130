#include "runtime/memory/page_lock.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace hydra {

page_lock::page_lock(std::span<std::byte> pages, std::vector<page_locker*> lockers, byte_count piece) {
  try {
    for (page_locker* const by : lockers)
      for (std::size_t at = 0; at < pages.size(); at += piece.value()) {
        const auto part = pages.subspan(at, std::min<std::size_t>(piece.value(), pages.size() - at));
        by->lock(part);
        locked_.emplace_back(by, part);
      }
  } catch (const fault_error& e) {
    unlock();
    fault why = e.what_happened();
    why.text = fmt::format(
        "{} of host memory, from which devices copy, cannot be locked: {}; raise the limit of locked "
        "memory (ulimit -l), or train fewer models at once",
        to_string(byte_count{pages.size()}), why.text);
    throw fault_error{std::move(why)};
  } catch (...) {
    unlock();
    throw;
  }
}

void page_lock::unlock() noexcept {
  for (const auto& [by, part] : std::views::reverse(locked_)) by->unlock(part);
  locked_.clear();
}

}  // namespace hydra
