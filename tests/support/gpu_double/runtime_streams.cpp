// The runtime's functions for streams, events and host functions.

#include "tests/support/gpu_double/report.hpp"
#include "tests/support/gpu_double/streams.hpp"

#include <utility>

using namespace gpu_double;

namespace {

using std::chrono::steady_clock;

mark_ptr& last_mark(cudaEvent_t e) { return *reinterpret_cast<mark_ptr*>(e); }

/// From when the event's last recording is done; one that was never recorded is done.
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
  return called("cudaStreamCreate", [&](const lock&) {
    *s = reinterpret_cast<cudaStream_t>(make_stream(current_device()));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) { return cudaStreamCreateWithPriority(s, flags, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  return called("cudaStreamDestroy", [&](lock& l) {
    end_stream(l, stream_of(s));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  return called("cudaStreamSynchronize", [&](lock& l) { return wait_for(l, stream_of(s)); });
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
  return called("cudaStreamQuery", [&](const lock&) { return stream_of(s)->line.empty() ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  return called("cudaStreamWaitEvent", [&](const lock&) {
    if (last_mark(e)) wait_for_mark(stream_of(s), last_mark(e));
    else complain("useless call", "cudaStreamWaitEvent of an event that was never recorded");
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* data) {
  return called("cudaLaunchHostFunc", [&](const lock&) {
    enqueue(stream_of(s), {.name = "host function", .ranges = {}, .run = [=] { f(data); }})->is_host_function = true;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, cudaStreamCaptureStatus* status, unsigned long long*, cudaGraph_t*,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, std::size_t*) {
  return cudaStreamIsCapturing(s, status);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  return called("cudaEventCreate", [&](const lock&) {
    *e = reinterpret_cast<cudaEvent_t>(new mark_ptr);
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return called("cudaEventDestroy", [&](const lock&) {
    delete &last_mark(e);
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  return called("cudaEventRecord", [&](const lock&) {
    last_mark(e) = record(stream_of(s));
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned) { return cudaEventRecord(e, s); }
cudaError_t cudaEventQuery(cudaEvent_t e) {
  return called("cudaEventQuery", [&](const lock&) { return is_done(last_mark(e)) ? cudaSuccess : cudaErrorNotReady; });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  return called("cudaEventSynchronize", [&](lock& l) {
    count("waits of the host");
    const auto m = last_mark(e);
    const auto& failed = lasting_error(current_device());
    changed().wait(l, [&] { return is_done(m) || failed != cudaSuccess; });
    return failed;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return called("cudaEventElapsedTime", [&](const lock&) {
    const auto &a = last_mark(from), &b = last_mark(to);
    if (!a || !b || !a->done || !b->done) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(b->when - a->when).count();
    return cudaSuccess;
  });
}

}  // extern "C"
