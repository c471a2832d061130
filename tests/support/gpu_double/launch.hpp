#pragma once
// Work that a stream does later, and the bytes that it touches.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpu_double {

/// Addresses that work reads or writes.
struct touched {
  std::uintptr_t begin = 0, end = 0;
  bool written = false;
};

inline touched range_of(const void* p, std::size_t bytes, bool written) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  return {begin, begin + bytes, written};
}

struct work {
  std::string name;
  std::vector<touched> ranges{};
  std::function<void()> run{};
};

/// Where the bytes of an address are. Of a device's address they are elsewhere: the address itself faults when code of
/// the host uses it, as on a GPU.
std::uintptr_t bytes_at(std::uintptr_t address) noexcept;
template <class T>
T* bytes_at(T* p) noexcept {
  return reinterpret_cast<T*>(bytes_at(reinterpret_cast<std::uintptr_t>(p)));
}

/// For the stream's own thread. Whether it could be launched is in cudaGetLastError. `on`: a cudaStream_t.
void launch(void* on, work what);

}  // namespace gpu_double
