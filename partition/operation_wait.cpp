#include "partition/operation_wait.hpp"

#include "runtime/fault.hpp"

namespace hydra {

void operation_wait::complete(const completion& c) {
  {
    const std::lock_guard lock{mutex_};
    ended_.insert(c.operation);
    if (c.error && !first_) {
      first_ = c.error;
    }
  }
  changed_.notify_all();
}

void operation_wait::for_end_of(ticket t) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return !t || ended_.contains(t); });
  if (first_) {
    throw fault_error(first_);
  }
}

}  // namespace hydra
