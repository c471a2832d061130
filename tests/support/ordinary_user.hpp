#pragma once
// Root may read and write everything: tests of missing permissions run as another user.

#include <unistd.h>

#include <exception>
#include <stdexcept>

namespace hydra::test {

/// While this exists the process has the rights of an ordinary user, also if root runs the tests.
class ordinary_user {
 public:
  ordinary_user() {
    if (root_ && ::seteuid(nobody) != 0) throw std::runtime_error{"root cannot become an ordinary user"};
  }
  ~ordinary_user() {
    if (root_ && ::seteuid(0) != 0) std::terminate();
  }
  ordinary_user(const ordinary_user&) = delete;
  ordinary_user& operator=(const ordinary_user&) = delete;

 private:
  static constexpr ::uid_t nobody = 65534;
  const bool root_ = ::geteuid() == 0;
};

}  // namespace hydra::test
