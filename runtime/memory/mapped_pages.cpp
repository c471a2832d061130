#include "runtime/memory/mapped_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace hydra {

void unmap_pages::operator()(std::byte* first) const noexcept { munmap(first, size); }

/// Maps one huge page more and trims, so that the base is at the start of a huge page.
mapped_pages map_pages(std::size_t n) {
  void* const raw = mmap(nullptr, n + huge_page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc{};
  auto* const first = static_cast<std::byte*>(raw);
  const std::size_t head = (huge_page_size - reinterpret_cast<std::uintptr_t>(first) % huge_page_size) % huge_page_size;
  if (head != 0) munmap(first, head);
  munmap(first + head + n, huge_page_size - head);
  madvise(first + head, n, MADV_HUGEPAGE);  // only advice: without huge pages it works as well, but slower
  return mapped_pages{first + head, {n}};
}

}  // namespace hydra
