#pragma once
// The commands of clients that take long, executed beside the thread that serves these.

#include "apps/steering/answer.hpp"
#include "apps/steering/steering.hpp"

#include <oneapi/tbb/concurrent_queue.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace hydra::apps {

/// Executes commands one after the other, on one thread from the start: a run is not affected where the system refuses
/// more threads later.
class command_thread {
 public:
  /// `run` outlives it. `answered` is called on the thread with the text of each answer, and must not throw. Throws
  /// std::system_error if no thread can be started.
  command_thread(steering& run, std::function<void(std::string text)> answered);
  /// Waits until all commands are executed.
  ~command_thread();
  command_thread(const command_thread&) = delete;
  command_thread& operator=(const command_thread&) = delete;

  /// Returns at once.
  void execute(const read_command& command) { commands_.push(command); }

 private:
  void execute_all();

  steering& run_;
  std::function<void(std::string text)> answered_;
  tbb::concurrent_bounded_queue<std::optional<read_command>> commands_;  ///< without one: the end
  std::thread thread_;                                                   ///< last: it uses the others
};

}  // namespace hydra::apps
