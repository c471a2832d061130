#include "tests/support/gpu_double/streams.hpp"

#include "tests/support/gpu_double/memory.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace gpu_double {

namespace {

/// What an event was recorded as; null: never.
task_ptr& last_of(cudaEvent_t e) { return *reinterpret_cast<task_ptr*>(e); }

/// Work is late by a random time, so that what depends on an order that nothing guarantees goes wrong.
void be_late(stream& s) {
  static const auto most_us = setting("DELAY", 300);
  const auto r = s.random() >> 4;
  if (r % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(r / 4 % (most_us + 1)));
  if (r % 4 == 1) std::this_thread::yield();
}

/// An exception of the work ends the program.
void run(lock& l, stream& s, task& t) {
  if (!all_live(t.what, "runs")) {
    lasting_errors[s.device] = cudaErrorIllegalAddress;
    return;
  }
  count("work");
  l.unlock();
  be_late(s);
  in_host_function = t.is_host_function;
  if (t.what.run) t.what.run();
  in_host_function = false;
  l.lock();
  t.done = std::chrono::steady_clock::now();
}

/// A device that has failed runs nothing any more, and calls no one.
bool may_begin(const stream& s) {
  return !s.line.empty() &&
         (lasting_errors[s.device] != cudaSuccess || !s.line.front()->after || s.line.front()->after->done);
}

[[noreturn]] void serve(stream* s) {
  current_device = s->device;
  for (lock l{mutex};;) {
    s->ready.wait(l, [s] { return may_begin(*s); });
    const auto t = s->line.front();
    if (lasting_errors[s->device] == cudaSuccess) run(l, *s, *t);
    s->line.pop_front();
    t->what.run = nullptr;
    wake_all();
  }
}

}  // namespace

void wake_all() {
  for (auto* s : streams) {
    if (may_begin(*s)) s->ready.notify_one();
  }
  changed.notify_all();
}

stream* make_stream() {
  static const auto seed = setting("SEED", 1);
  auto* const s = streams.emplace_back(new stream);
  s->id = static_cast<int>(streams.size());
  s->device = current_device;
  s->random.seed(static_cast<unsigned>(seed) * 7919 + static_cast<unsigned>(s->id));
  std::thread(serve, s).detach();
  return s;
}

stream* stream_of(cudaStream_t given) {
  static auto& first = *new std::map<int, stream*>;
  if (reinterpret_cast<std::uintptr_t>(given) > 2) return reinterpret_cast<stream*>(given);
  auto& s = first[current_device];
  return s ? s : s = make_stream();
}

task_ptr enqueue(stream* s, work what, task_ptr after) {
  if (after) {
    for (const auto& [id, n] : after->clock) s->clock[id] = std::max(s->clock[id], n);
  }
  ++s->clock[s->id];
  auto t = std::make_shared<task>(task{.what = std::move(what), .after = std::move(after), .clock = s->clock});
  look_for_races(*t, *s);
  s->line.push_back(t);
  if (s->line.size() == 1) s->ready.notify_one();
  return t;
}

cudaError_t start(cudaStream_t on, work what) {
  all_live(what, "is launched", true);
  enqueue(stream_of(on), std::move(what));
  return cudaSuccess;
}

void launch(void* on, work what) {
  called<cudaError_t>("operator", [&](lock&) { return start(static_cast<cudaStream_t>(on), std::move(what)); });
}

cudaError_t wait_for(lock& l, const stream* s) {
  const auto is_idle = [](const stream* of) { return of->line.empty(); };
  count("waits of the host");
  changed.wait(l, [&] { return s ? is_idle(s) : std::ranges::all_of(streams, is_idle); });
  return lasting_errors[current_device];
}

}  // namespace gpu_double

using namespace gpu_double;

extern "C" {

CALL(cudaError_t, cudaStreamCreateWithPriority, (cudaStream_t * s, unsigned, int),
     { *s = reinterpret_cast<cudaStream_t>(make_stream()); })
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  return cudaStreamCreateWithPriority(s, flags, 0);
}
/// Its thread stays.
CALL(cudaError_t, cudaStreamDestroy, (cudaStream_t s), { return wait_for(l, stream_of(s)); })
CALL(cudaError_t, cudaStreamSynchronize, (cudaStream_t s), { return wait_for(l, stream_of(s)); })
CALL(cudaError_t, cudaStreamQuery, (cudaStream_t s),
     { return stream_of(s)->line.empty() ? cudaSuccess : cudaErrorNotReady; })
CALL(cudaError_t, cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned), {
  if (!last_of(e)) complain("useless call", "cudaStreamWaitEvent of an event that was never recorded");
  enqueue(stream_of(s), {.name = "wait"}, last_of(e));
})
CALL(cudaError_t, cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void* data),
     { enqueue(stream_of(s), {.name = "host function", .run = [=] { f(data); }})->is_host_function = true; })
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* s) { return *s = {}, cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

CALL(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned),
     { *e = reinterpret_cast<cudaEvent_t>(new task_ptr); })
cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
CALL(cudaError_t, cudaEventDestroy, (cudaEvent_t e), { delete &last_of(e); })
CALL(cudaError_t, cudaEventRecord, (cudaEvent_t e, cudaStream_t s),
     { last_of(e) = enqueue(stream_of(s), {.name = "event"}); })
CALL(cudaError_t, cudaEventSynchronize, (cudaEvent_t e), {
  count("waits of the host");
  const auto& failed = lasting_errors[current_device];
  changed.wait(l, [&failed, last = last_of(e)] { return !last || last->done || failed != cudaSuccess; });
  return failed;
})
CALL(cudaError_t, cudaEventElapsedTime, (float* milliseconds, cudaEvent_t from, cudaEvent_t to), {
  const auto &a = last_of(from), &b = last_of(to);
  if (!a || !b || !a->done || !b->done) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(*b->done - *a->done).count();
})

}  // extern "C"
