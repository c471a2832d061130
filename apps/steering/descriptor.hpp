#pragma once
// An open file or socket.

#include <unistd.h>

#include <utility>

namespace hydra::apps {

/// Closes it at the end of its life; -1 is none.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

 private:
  int number_ = -1;
};

}  // namespace hydra::apps
