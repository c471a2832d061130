// The runtime's functions for streams, events and host functions.

#include "tests/support/gpu_double/streams.hpp"

#include <utility>

using namespace gpu_double;

namespace {

using std::chrono::steady_clock;

mark_ptr& last_mark(cudaEvent_t e) { return *reinterpret_cast<mark_ptr*>(e); }

/// An event that was never recorded is done.
bool is_done(const mark_ptr& m) { return !m || m->done; }

mark_ptr record(stream* s) {
  auto m = std::make_shared<mark>();
  const auto happens = [m] {
    const lock l{mutex()};
    m->done = true;
    m->when = steady_clock::now();
  };
  m->clock = enqueue(s, {.name = "event", .ranges = {}, .run = happens})->clock;
  return m;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) {
  return called("cudaStreamCreate", [&] { *s = reinterpret_cast<cudaStream_t>(make_stream(current_device())); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) { return cudaStreamCreateWithPriority(s, flags, 0); }
/// Its thread stays.
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  return called("cudaStreamDestroy", [&](lock& l) { return wait_for(l, stream_of(s)); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  return called("cudaStreamSynchronize", [&](lock& l) { return wait_for(l, stream_of(s)); });
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
  return called("cudaStreamQuery", [&] { return stream_of(s)->line.empty() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  return called("cudaStreamWaitEvent", [&] {
    if (last_mark(e)) wait_for_mark(stream_of(s), last_mark(e));
    else complain("useless call", "cudaStreamWaitEvent of an event that was never recorded");
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* data) {
  return called("cudaLaunchHostFunc", [&] {
    enqueue(stream_of(s), {.name = "host function", .ranges = {}, .run = [=] { f(data); }})->is_host_function = true;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* s) { return *s = cudaStreamCaptureStatusNone, cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  return called("cudaEventCreate", [&] { *e = reinterpret_cast<cudaEvent_t>(new mark_ptr); });
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return called("cudaEventDestroy", [&] { delete &last_mark(e); });
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  return called("cudaEventRecord", [&] { last_mark(e) = record(stream_of(s)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  return called("cudaEventSynchronize", [&](lock& l) {
    count("waits of the host");
    const auto& failed = lasting_error(current_device());
    changed().wait(l, [&failed, m = last_mark(e)] { return is_done(m) || failed != cudaSuccess; });
    return failed;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return called("cudaEventElapsedTime", [&] {
    const auto &a = last_mark(from), &b = last_mark(to);
    if (!a || !b || !a->done || !b->done) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(b->when - a->when).count();
    return cudaSuccess;
  });
}

}  // extern "C"
