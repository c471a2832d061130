#pragma once
// What is said of a transfer that takes long. Pure.

#include "runtime/base/bytes.hpp"

#include <chrono>
#include <string>

namespace hydra {

class transfer_progress {
 public:
  static constexpr duration interval = std::chrono::seconds(10);

  transfer_progress(byte_count size, time_point now) : size_(size), began_(now), said_(now) {}

  /// So much more has come: "40 %, 1.2 GiB of 3.0 GiB, 25 s left". Empty: within an interval of what was said before,
  /// or all has come.
  std::string came(byte_count more, time_point now);

 private:
  byte_count size_;
  byte_count came_{};
  time_point began_;
  time_point said_;
};

}  // namespace hydra
