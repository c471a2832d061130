#include "tests/support/completion_log.hpp"

#include "tests/support/gate.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace hydra::test {

completion_sink completion_log::sink() {
  return [this](const completion& c) {
    {
      const std::lock_guard lock{mutex_};
      completions_.push_back(c);
    }
    arrived_.notify_all();
  };
}

completion completion_log::wait_for(ticket t) const {
  std::unique_lock lock{mutex_};
  const auto position = [&] { return std::ranges::find(completions_, t, &completion::operation); };
  if (!arrived_.wait_for(lock, patience, [&] { return position() != completions_.end(); }))
    throw std::runtime_error{"operation " + std::to_string(t.value) + " has not completed"};
  return *position();
}

std::vector<completion> completion_log::wait_for_count(std::size_t n) const {
  std::unique_lock lock{mutex_};
  if (!arrived_.wait_for(lock, patience, [&] { return completions_.size() >= n; }))
    throw std::runtime_error{std::to_string(completions_.size()) + " operations of " + std::to_string(n) +
                             " have completed"};
  return completions_;
}

std::vector<completion> completion_log::all() const {
  const std::lock_guard lock{mutex_};
  return completions_;
}

}  // namespace hydra::test
