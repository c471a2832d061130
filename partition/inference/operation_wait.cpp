#include "partition/inference/operation_wait.hpp"

#include "runtime/base/fault.hpp"

#include <utility>

namespace hydra {

operation_wait::operation_wait(std::string device, duration limit) : device_(std::move(device)), limit_(limit) {}

void operation_wait::note(ticket t) {
  if (open_.erase(t) == 0) {
    open_.insert(t);
  }
}

void operation_wait::begin(ticket t) {
  const std::lock_guard lock{mutex_};
  note(t);
}

void operation_wait::complete(const completion& c) {
  {
    const std::lock_guard lock{mutex_};
    note(c.operation);
    ++ends_;
    if (c.error && !first_) {
      first_ = c.error;
    }
  }
  changed_.notify_all();
}

void operation_wait::for_end_of(ticket t) {
  std::unique_lock lock{mutex_};
  while (open_.contains(t)) {
    const auto before = ends_;
    if (!changed_.wait_for(lock, limit_, [&] { return ends_ != before; })) {
      throw fault_error(fault_code::device_lost, "device " + device_ + " has completed nothing for " +
                                                     to_string(limit_) +
                                                     ", although it was given work: it hangs, or is far too slow");
    }
  }
  if (first_) {
    throw fault_error(first_);
  }
}

std::size_t operation_wait::under_way() const {
  const std::lock_guard lock{mutex_};
  return open_.size();
}

}  // namespace hydra
