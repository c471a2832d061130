// Copies. From locked memory they are launched; from pageable memory the bytes are staged before the call returns, and
// to pageable memory the call waits, as the CUDA documentation says of cudaMemcpyAsync. Not modelled: peers, and copy
// engines.

#include "tests/support/gpu_double/memory.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <cstring>

using namespace gpu_double;

namespace {

struct copy {
  void* to;
  const void* from;
  std::size_t n;
  bool to_device = is_on_device(to), from_device = is_on_device(from);

  touched read() const { return range_of(from, n, false); }
  touched written() const { return range_of(to, n, true); }
  std::string name() const {
    return std::string{"copy to the "} + (to_device ? "device" : "host") + " from the " +
           (from_device ? "device" : "host");
  }
};

/// The bytes as they are now.
work staged(const copy& c) {
  const std::string bytes{static_cast<const char*>(c.from), c.n};
  return {c.name(), {c.written()}, [c, bytes] { std::memcpy(bytes_at(c.to), bytes.data(), c.n); }};
}

work launched(const copy& c) {
  return {c.name(), {c.read(), c.written()}, [c] { std::memcpy(bytes_at(c.to), bytes_at(c.from), c.n); }};
}

cudaError_t copy_with_host(const copy& c, stream* s, lock& l) {
  const auto end = c.to_device ? c.read() : c.written();
  const auto locked = memory.locked.last_in(end);
  if (locked == memory.locked.end()) {
    count("pageable copies");
    enqueue(s, c.to_device ? staged(c) : launched(c));
    return c.to_device ? cudaSuccess : wait_for(l, s);
  }
  count("locked copies");
  if (end.begin < locked->first || end.end > locked->first + locked->second) {
    complain("partly locked", c.name() + ", of which only a part is locked, or in several parts");
    return cudaErrorInvalidValue;
  }
  // who reads too early gets rubbish
  if (!c.to_device && user_of(end).empty()) std::memset(c.to, unknown_byte, c.n);
  enqueue(s, launched(c));
  return cudaSuccess;
}

}  // namespace

extern "C" CALL(cudaError_t, cudaMemcpyAsync,
                (void* to, const void* from, std::size_t n, cudaMemcpyKind, cudaStream_t on), {
                  const copy c{.to = to, .from = from, .n = n};
                  if (n == 0) return cudaSuccess;
                  if (!all_live(launched(c), "is launched")) return cudaErrorInvalidValue;
                  if (c.to_device != c.from_device) return copy_with_host(c, stream_of(on), l);
                  enqueue(stream_of(on), launched(c));
                })
