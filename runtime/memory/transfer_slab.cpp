#include "runtime/memory/transfer_slab.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace hydra {
namespace {

/// The system clears a page at its first write, at the speed of one thread's stores; the locker needs all pages
/// touched.
void touch(std::span<std::byte> pages) {
  constexpr std::size_t grain = huge_page_size / page_size;  // one thread has a huge page to itself
  const std::size_t n = pages.size() / page_size;
  tbb::parallel_for(tbb::blocked_range<std::size_t>{0, n, grain}, [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      *static_cast<volatile std::byte*>(pages.data() + i * page_size) = std::byte{0};
    }
  });
}

}  // namespace

transfer_slab::transfer_slab(byte_count pool, byte_count piece)
    : memory_{map_pages(round_up(pool, page_size).value())}, places_{memory_.get_deleter().size, piece.value()} {
  touch(pages());
}

transfer_slab::~transfer_slab() {
  if (kept_) static_cast<void>(memory_.release());
}

std::byte* transfer_slab::take(std::uint64_t n, std::uint64_t alignment) {
  const std::lock_guard lock{mutex_};
  const auto place = places_.take(n, alignment);
  return place ? memory_.get() + *place : nullptr;
}

void transfer_slab::give_back(std::byte* place, std::uint64_t n) noexcept {
  const std::lock_guard lock{mutex_};
  places_.give_back(static_cast<std::uint64_t>(place - memory_.get()), n);
}

}  // namespace hydra
