// Copies. From locked memory they are launched; from pageable memory the bytes are staged before the call returns, and to pageable
// memory the call waits, as the CUDA documentation says of cudaMemcpyAsync. Not modelled: peers, and which copy engine does it.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

using namespace gpu_double;

namespace {

constexpr int unknown_byte = 0xCB;

struct copy {
  void* to;
  const void* from;
  std::size_t n;
  bool to_device = is_device_address(reinterpret_cast<std::uintptr_t>(to));
  bool from_device = is_device_address(reinterpret_cast<std::uintptr_t>(from));

  touched read() const { return range_of(from, n, false); }
  touched written() const { return range_of(to, n, true); }
  std::string name() const {
    return to_device ? (from_device ? "copy on the device" : "copy to the device")
                     : (from_device ? "copy to the host" : "copy on the host");
  }
};

/// Whether the end of the copy that is on the host is locked. A range that is locked in part is refused.
bool is_locked(const copy& c, cudaError_t& error) {
  const auto end = c.to_device ? c.read() : c.written();
  const auto [locks, all] = locks_of(end.begin, end.end);
  if (locks > 0 && !all) {
    complain("partly locked", c.name() + " of host memory of which only a part is locked");
    error = cudaErrorInvalidValue;
  }
  if (locks > 1) complain("locked in parts", c.name() + " of host memory that was locked in several parts");
  return locks > 0;
}

/// Returns whether the host has to wait.
bool enqueue_copy(const copy& c, stream* s, bool locked) {
  if (c.to_device && !c.from_device && !locked) {
    const auto* first = static_cast<const std::byte*>(c.from);
    const auto staged = std::make_shared<std::vector<std::byte>>(first, first + c.n);
    enqueue(s, {c.name(), {c.written()}, [c, staged] { std::memcpy(bytes_at(c.to), staged->data(), c.n); }});
    return false;
  }
  if (!c.to_device && locked && user_of(c.written()).empty()) {
    std::memset(c.to, unknown_byte, c.n);  // who reads too early gets rubbish
  }
  enqueue(s, {c.name(), {c.read(), c.written()}, [c] { std::memcpy(bytes_at(c.to), bytes_at(c.from), c.n); }});
  return c.to_device != c.from_device && !locked;
}

cudaError_t launch_copy(const copy& c, cudaStream_t on, lock& l) {
  if ((c.to_device && !is_live(c.written())) || (c.from_device && !is_live(c.read()))) {
    complain("illegal address", c.name() + " of memory that is not mapped");
    return cudaErrorInvalidValue;
  }
  auto error = cudaSuccess;
  bool locked = true;
  if (c.to_device != c.from_device) {
    locked = is_locked(c, error);
    count(locked ? "locked copies" : "pageable copies");
    count(locked ? "locked bytes" : "pageable bytes", c.n);
  }
  if (error != cudaSuccess) return error;
  auto* const s = stream_of(on);
  return enqueue_copy(c, s, locked) ? wait_for(l, s) : cudaSuccess;
}

}  // namespace

extern "C" cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind, cudaStream_t on) {
  return called("cudaMemcpyAsync", [&](lock& l) {
    return n == 0 ? cudaSuccess : launch_copy({.to = to, .from = from, .n = n}, on, l);
  });
}
