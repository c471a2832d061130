#include "runtime/memory/host_memory.hpp"

#include "runtime/memory/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace hydra {

namespace {

/// "MemAvailable:  12345 kB"
std::optional<std::uint64_t> read_line(const char* file, const std::string& wanted) {
  std::ifstream in{file};
  for (std::string key; in >> key; in.ignore(4096, '\n')) {
    std::uint64_t kib = 0;
    if (key == wanted && in >> kib) return kib * 1024;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> kernel_available() { return read_line("/proc/meminfo", "MemAvailable:"); }

}  // namespace

byte_count available_host_memory() {
  const auto kernel = kernel_available();
  const auto group = memory_left_in_groups();
  return byte_count{kernel && group ? std::min(*kernel, *group) : kernel.value_or(group.value_or(0))};
}

byte_count process_peak_memory() { return byte_count{read_line("/proc/self/status", "VmHWM:").value_or(0)}; }

}  // namespace hydra
