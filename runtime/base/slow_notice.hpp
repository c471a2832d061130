#pragma once
// Says that something takes long which cannot be interrupted.

#include "runtime/base/bytes.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace hydra {

/// Watches what one thread does, from a thread of its own; where there is none, nothing is said.
class slow_notice {
 public:
  /// `say` is called on that thread, once for each activity that lasts longer than `limit`; it must return at once.
  slow_notice(duration limit, std::function<void(const std::string& what)> say);
  ~slow_notice();
  slow_notice(const slow_notice&) = delete;
  slow_notice& operator=(const slow_notice&) = delete;

  /// From now on the thread does this, and nothing else.
  void begin(std::string what);

 private:
  void watch();

  duration limit_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  std::uint64_t activities_ = 0;
  bool over_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace hydra
