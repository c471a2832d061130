#pragma once
// Lines appended to a file by a thread of its own: who appends never waits for the disk.

#include "runtime/base/fault.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace hydra {

struct line_log_options {
  std::size_t most_waiting = std::size_t{4} << 20;   ///< bytes; lines beyond them are lost
  std::chrono::milliseconds pause{1000};             ///< between two writes: a process that is killed loses no more lines
};

/// Thread-safe. Only whole lines are in the file, unless a crash cuts the last one.
class line_log {
 public:
  /// The file is opened, or made, with the first line. `log` hears when it cannot be written, and when it can again.
  line_log(std::filesystem::path file, std::shared_ptr<spdlog::logger> log, line_log_options options = {});
  ~line_log();
  line_log(const line_log&) = delete;
  line_log& operator=(const line_log&) = delete;

  /// A line without its end.
  void append(std::string_view line);

  /// Lines that are not in the file.
  struct losses {
    std::uint64_t lines = 0;
    fault why{};                  ///< of the last ones; none if only too many were waiting
  };
  /// Writes what waits, and ends.
  losses close();

 private:
  void write_batches();
  void write(std::string_view text);
  void tell(const fault& why);

  const std::filesystem::path file_;
  const std::shared_ptr<spdlog::logger> log_;
  const line_log_options options_;
  int descriptor_ = -1;           ///< of the writing thread, as the next one
  bool failing_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t lines_waiting_ = 0;
  bool closing_ = false;
  losses lost_;
  std::thread writer_;            ///< last: it uses all the others
};

}  // namespace hydra
