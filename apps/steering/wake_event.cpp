#include "apps/steering/wake_event.hpp"

#include "runtime/base/fault.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace hydra::apps {

wake_event::wake_event() : event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (!event_)
    throw fault_error{fault_code::io,
                      "the clients of this run cannot be served: eventfd: " + std::generic_category().message(errno)};
}

void wake_event::set() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(number(), &one, sizeof one);
}

void wake_event::clear() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto drained = ::read(number(), &count, sizeof count);
}

}  // namespace hydra::apps
