#pragma once
// Streams and events: what streams still have to do, and the order between them. A stream is a thread with a queue.
// Modelled is what non-blocking streams do; not that stream 0 waits for the others, priorities, graphs and capture.

#include "tests/support/gpu_double/calls.hpp"
#include "tests/support/gpu_double/launch.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <optional>
#include <random>

namespace gpu_double {

/// A recording of an event is one, too.
struct task {
  work what;
  std::shared_ptr<task> after{};               ///< runs only when this is done
  bool is_host_function = false;
  std::map<int, std::uint64_t> clock{};        ///< how many tasks of each stream happen before its end: a vector clock
  std::optional<std::chrono::steady_clock::time_point> done{};
};
using task_ptr = std::shared_ptr<task>;

struct stream {
  int id = 0;
  int device = 0;
  std::deque<task_ptr> line{};                 ///< not done; the first one may be running
  std::map<int, std::uint64_t> clock{};        ///< of its last task
  std::condition_variable ready{};
  std::minstd_rand random{};
};

// -- with the lock held ---

inline auto& streams = *new std::vector<stream*>;      ///< as long as the process; so are their threads
inline auto& changed = *new std::condition_variable;   ///< for hosts: something was done, or a device has failed
/// Those who wait and need not any more: streams whose next task can run, and hosts.
void wake_all();

/// On the current device.
stream* make_stream();
/// Null: stream 0 of the current device.
stream* stream_of(cudaStream_t given);

task_ptr enqueue(stream* s, work what, task_ptr after = nullptr);
/// The same, of work whose addresses all have to be a GPU's. Returns no error.
cudaError_t start(cudaStream_t on, work what);
/// The host waits for a stream; null: for all. Returns the current device's lasting error.
cudaError_t wait_for(lock& l, const stream* s);

// -- races ---

std::string text_of(const touched& r);
/// Complains if the task touches what another stream has still to touch without one happening before the other.
void look_for_races(const task& t, const stream& on);
/// What still has to use these bytes; empty: nothing.
std::string user_of(const touched& r);

}  // namespace gpu_double
