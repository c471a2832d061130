#pragma once
// The optimizer's executor under a virtual clock.

#include "runtime/device/executor.hpp"

#include <functional>
#include <vector>

namespace hydra {

/// Jobs are never run; each takes its estimate on the worker that is free first, in the order of submission.
class simulated_executor final : public executor {
 public:
  using clock_reader = std::function<time_point()>;
  using timer = std::function<void(duration, const completion&)>;

  simulated_executor(int workers, clock_reader now);
  void deliver_by(timer deliver) { deliver_ = std::move(deliver); }

  void on_completion(completion_sink) override {}
  ticket submit(std::function<void()> work, duration estimate) override;
  int workers() const noexcept override { return static_cast<int>(free_.size()); }

 private:
  clock_reader now_;
  timer deliver_;
  std::vector<time_point> free_;
  std::uint64_t last_ = 0;
};

}  // namespace hydra
