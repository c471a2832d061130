#pragma once
// Lines appended to a file by a separate thread: the caller never waits for the disk.

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
  std::size_t most_waiting = std::size_t{4} << 20;   ///< bytes waiting to be written; lines beyond them are lost
  /// between two writes: a process that is killed loses at most these lines
  std::chrono::milliseconds pause{1000};
};

/// Thread-safe. The file has whole lines only, unless a crash cuts the last one.
class line_log {
 public:
  /// The file is opened, or created, with the first line. `log` gets a warning when it cannot be written, and when it
  /// can again.
  line_log(std::filesystem::path file, std::shared_ptr<spdlog::logger> log, line_log_options options = {});
  ~line_log();
  line_log(const line_log&) = delete;
  line_log& operator=(const line_log&) = delete;

  /// The line without its newline.
  void append(std::string_view line);

  /// Lines that could not be written.
  struct losses {
    std::uint64_t lines = 0;
    fault why{};                  ///< of the last ones; none if only too many were waiting
  };
  /// Writes all waiting lines and closes the file.
  losses close();

 private:
  void write_batches();
  void write(std::string_view text);
  void tell(const fault& why);

  const std::filesystem::path file_;
  const std::shared_ptr<spdlog::logger> log_;
  const line_log_options options_;
  int descriptor_ = -1;           ///< used by the writing thread only, like the next member
  bool failing_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::uint64_t lines_waiting_ = 0;
  bool closing_ = false;
  losses lost_;
  std::thread writer_;            ///< declared last: it uses all other members
};

}  // namespace hydra
