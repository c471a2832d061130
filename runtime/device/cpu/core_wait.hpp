#pragma once
// How long a thread has waited for a processor core.

#include "runtime/base/bytes.hpp"

#include <string_view>

namespace hydra {

/// Of a file schedstat of Linux, "536275105 463875970 117": nanoseconds on a core, nanoseconds in which the thread was
/// ready to run and had none, and how often it got one. 0 for anything else.
duration wait_in(std::string_view schedstat) noexcept;

/// Of the thread that has made it.
class core_wait {
 public:
  core_wait() noexcept;
  ~core_wait();
  core_wait(const core_wait&) = delete;
  core_wait& operator=(const core_wait&) = delete;

  /// In all; 0 where the kernel does not say.
  duration so_far() const noexcept;

 private:
  int file_;
};

}  // namespace hydra
