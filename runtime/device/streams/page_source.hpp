#pragma once
// Pages of memory, and the range of addresses that they are mapped to.

#include "runtime/base/bytes.hpp"

#include <c10/core/DeviceType.h>

#include <cstddef>
#include <span>
#include <utility>

namespace hydra {

/// A place is a range of addresses as long as a page. Used by one thread at a time.
class page_source {
 public:
  virtual ~page_source() = default;
  virtual c10::DeviceType device_type() const noexcept = 0;
  virtual std::byte* base() const noexcept = 0;
  virtual byte_count page() const noexcept = 0;
  virtual std::size_t pages() const noexcept = 0;
  /// Length of the address range as a multiple of the pages' total size.
  virtual std::size_t spread() const noexcept = 0;

  /// Both take effect at once: the places and the pages are not in use. A driver may wait for other work before it
  /// unmaps. `places`: each with its page, in ascending order. Throw fault_error{device_lost}.
  virtual void map(std::span<const std::pair<std::size_t, std::size_t>> places) = 0;
  virtual void unmap(std::size_t place) = 0;
};

}  // namespace hydra
