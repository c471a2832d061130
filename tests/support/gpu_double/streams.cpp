#include "tests/support/gpu_double/streams.hpp"

#include "tests/support/gpu_double/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace gpu_double {

namespace {

std::vector<stream*>& streams() {
  static auto* const all = new std::vector<stream*>;
  return *all;
}

/// Work is late by a random time, so that what depends on an order that nothing guarantees goes wrong.
void be_late(stream& s) {
  static const auto most_us = setting("DELAY", 300);
  if (most_us <= 0) return;
  const auto r = s.random() >> 4;
  if (r % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(r / 4 % static_cast<std::uint64_t>(most_us)));
  if (r % 4 == 1) std::this_thread::yield();
}

/// False: the task uses memory that is not there.
bool may_run(const stream& s, const task& t) {
  for (const auto& r : t.what.ranges) {
    if (is_device_address(r.begin) && !is_live(r)) {
      complain("illegal address", t.what.name + " " + text_of(r) + ", which is not mapped when it runs");
      lasting_error(s.device) = cudaErrorIllegalAddress;
      return false;
    }
  }
  return true;
}

void run(lock& l, stream& s, task& t) {
  if (!may_run(s, t)) return;
  count("work");
  l.unlock();
  be_late(s);
  in_host_function() = t.is_host_function;
  try {
    if (t.what.run) t.what.run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu-double: %s has thrown: %s\n", t.what.name.c_str(), e.what());
    std::abort();
  }
  in_host_function() = false;
  l.lock();
}

/// A device that has failed runs nothing any more, and calls no one.
bool may_begin(const stream& s) {
  return !s.line.empty() && (lasting_error(s.device) != cudaSuccess || !s.line.front()->waits || s.line.front()->waits->done);
}

[[noreturn]] void serve(stream* s) {
  current_device() = s->device;
  lock l{mutex()};
  for (;;) {
    s->ready.wait(l, [s] { return may_begin(*s); });
    const auto t = s->line.front();
    if (lasting_error(s->device) == cudaSuccess) run(l, *s, *t);
    s->line.pop_front();
    t->what.run = nullptr;
    wake_all();
  }
}

}  // namespace

std::condition_variable& changed() {
  static auto* const it = new std::condition_variable;
  return *it;
}

void wake_all() {
  for (auto* s : streams()) {
    if (may_begin(*s)) s->ready.notify_one();
  }
  changed().notify_all();
}

const std::vector<stream*>& all_streams() { return streams(); }

std::set<int>& contexts() {
  static auto* const all = new std::set<int>;
  return *all;
}

stream* make_stream(int device) {
  static const auto seed = setting("SEED", 1);
  auto* const s = streams().emplace_back(new stream);
  s->id = static_cast<int>(streams().size());
  s->device = device;
  s->random.seed(static_cast<unsigned>(seed * 7919 + s->id));
  contexts().insert(device);
  std::thread(serve, s).detach();
  return s;
}

stream* stream_of(cudaStream_t given) {
  static auto* const first = new std::map<int, stream*>;
  if (reinterpret_cast<std::uintptr_t>(given) > 2) return reinterpret_cast<stream*>(given);
  auto& s = (*first)[current_device()];
  return s ? s : s = make_stream(current_device());
}

task_ptr enqueue(stream* s, work what, mark_ptr waits) {
  auto t = std::make_shared<task>();
  t->what = std::move(what);
  t->waits = std::move(waits);
  t->number = ++s->last;
  s->clock[s->id] = t->number;
  t->clock = s->clock;
  look_for_races(*t, *s);
  s->line.push_back(t);
  if (s->line.size() == 1) s->ready.notify_one();
  return t;
}

void wait_for_mark(stream* s, const mark_ptr& m) {
  for (const auto& [id, n] : m->clock) s->clock[id] = std::max(s->clock[id], n);
  enqueue(s, {.name = "wait", .ranges = {}, .run = {}}, m);
}

cudaError_t wait_for(lock& l, const stream* s) {
  const auto is_idle = [](const stream* of) { return of->line.empty(); };
  count("waits of the host");
  changed().wait(l, [&] { return s ? is_idle(s) : std::ranges::all_of(streams(), is_idle); });
  return lasting_error(current_device());
}

void launch(void* on, work what) {
  called("operator", [&] {
    require_live(what);
    enqueue(stream_of(static_cast<cudaStream_t>(on)), std::move(what));
  });
}

}  // namespace gpu_double
