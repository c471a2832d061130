#pragma once
// Streams and events: what streams still have to do, and the order between them. A stream is a thread with a queue. Modelled is
// what non-blocking streams do; not that stream 0 waits for the others, priorities, graphs and capture.

#include "tests/support/gpu_double/calls.hpp"
#include "tests/support/gpu_double/launch.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <random>
#include <set>

namespace gpu_double {

/// How many tasks of each stream, by its number, happen before something: a vector clock.
using vector_clock = std::map<int, std::uint64_t>;

/// One recording of an event.
struct mark {
  vector_clock clock{};
  bool done = false;
  std::chrono::steady_clock::time_point when{};
};
using mark_ptr = std::shared_ptr<mark>;

struct task {
  work what;
  std::uint64_t number = 0;      ///< in its stream, from 1
  vector_clock clock{};
  mark_ptr waits{};              ///< runs only when this is done
  bool is_host_function = false;
};
using task_ptr = std::shared_ptr<task>;

struct stream {
  int id = 0;
  int device = 0;
  std::deque<task_ptr> line;     ///< not done; the first one may be running
  std::uint64_t last = 0;        ///< number of the last task
  vector_clock clock;
  std::condition_variable ready;
  std::minstd_rand random;
};

// -- with the lock held ---

/// For hosts that wait: something was done, or a device has failed. Never destroyed.
std::condition_variable& changed();
/// Those who wait and need not any more: streams whose next task can run, and hosts.
void wake_all();

/// As long as the process; so are their threads.
const std::vector<stream*>& all_streams();
/// GPUs that have a context.
std::set<int>& contexts();
stream* make_stream(int device);
/// Null: stream 0 of the current device.
stream* stream_of(cudaStream_t given);

task_ptr enqueue(stream* s, work what, mark_ptr waits = nullptr);
/// What is given to the stream from now on happens after the mark.
void wait_for_mark(stream* s, const mark_ptr& m);
/// The host waits for a stream; null: for all. Returns the current device's lasting error.
cudaError_t wait_for(lock& l, const stream* s);

// -- races ---

std::string text_of(const touched& r);
/// Complains if the task touches what another stream has still to touch without one happening before the other.
void look_for_races(const task& t, const stream& on);
/// What still has to use these bytes; empty: nothing.
std::string user_of(const touched& r);

}  // namespace gpu_double
