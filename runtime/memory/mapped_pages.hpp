#pragma once
// Anonymous memory from the system, in whole pages.

#include <cstddef>
#include <memory>

namespace hydra {

constexpr std::size_t page_size = 4096;
constexpr std::size_t huge_page_size = 2 << 20;

struct unmap_pages {
  std::size_t size = 0;  ///< bytes that were mapped
  void operator()(std::byte* first) const noexcept;
};

/// Owns them; empty: none.
using mapped_pages = std::unique_ptr<std::byte, unmap_pages>;

/// `n` bytes, a multiple of the page size: zero, not touched yet, starting at a huge page, huge pages advised. Throws
/// std::bad_alloc if the system refuses the memory.
mapped_pages map_pages(std::size_t n);

}  // namespace hydra
