#pragma once
// Entries appended to files by a separate thread: the caller never waits for the disk.

#include "runtime/base/fault.hpp"
#include "runtime/storage/appended_file.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace hydra {

struct append_log_options {
  std::size_t most_waiting = std::size_t{4} << 20;   ///< bytes waiting to be written; entries beyond them are lost
  /// between two writes: a process that is killed loses at most these entries
  std::chrono::milliseconds pause{1000};
};

/// Thread-safe. Files have whole entries only, unless a crash cuts the last one.
class append_log {
 public:
  /// `log` gets a warning when a file cannot be written, and when it can again.
  explicit append_log(std::shared_ptr<spdlog::logger> log, append_log_options options = {});
  ~append_log();
  append_log(const append_log&) = delete;
  append_log& operator=(const append_log&) = delete;

  /// The file is opened, or created, with the first entry.
  void append(const std::filesystem::path& file, std::string_view entry);

  /// Entries of a file that could not be written.
  struct losses {
    std::uint64_t entries = 0;
    fault why{};                  ///< of the last ones; none if only too many were waiting
  };
  /// Writes all waiting entries and closes the files. Returns those that lack some.
  std::map<std::filesystem::path, losses> close();

 private:
  struct entries_of_file {
    std::string bytes;
    std::uint64_t entries = 0;
  };
  using batches = std::map<std::filesystem::path, entries_of_file>;

  void write_batches();
  fault write(const std::filesystem::path& file, std::string_view bytes);
  void tell(const std::filesystem::path& file, const fault& why);

  const std::shared_ptr<spdlog::logger> log_;
  const append_log_options options_;
  std::map<std::filesystem::path, appended_file> files_;  ///< used by the writing thread only, like the next member
  std::set<std::filesystem::path> failing_;

  std::mutex mutex_;
  std::condition_variable changed_;
  batches waiting_;
  std::size_t bytes_waiting_ = 0;
  bool closing_ = false;
  std::map<std::filesystem::path, losses> lost_;
  std::thread writer_;            ///< declared last: it uses all other members
};

}  // namespace hydra
