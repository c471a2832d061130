#include "runtime/device/cpu/core_wait.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace hydra {

duration wait_in(std::string_view schedstat) noexcept {
  const auto behind = schedstat.find(' ');
  std::int64_t waited = 0;
  if (behind != std::string_view::npos)
    std::from_chars(schedstat.data() + behind + 1, schedstat.data() + schedstat.size(), waited);
  return duration{waited};
}

core_wait::core_wait() noexcept : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

core_wait::~core_wait() {
  if (file_ >= 0) ::close(file_);
}

duration core_wait::so_far() const noexcept {
  std::array<char, 96> text{};
  const auto n = file_ < 0 ? 0 : ::pread(file_, text.data(), text.size(), 0);
  return wait_in({text.data(), n > 0 ? static_cast<std::size_t>(n) : 0});
}

}  // namespace hydra
