#include "actors/policy/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace hydra {

namespace {

/// Classes that were not measured take no time: the bound stays one.
duration at(const std::vector<duration>& times, std::size_t shard) {
  return shard < times.size() ? times[shard] : duration::zero();
}

duration time_on(double speed, duration cost) {
  return duration{std::llround(static_cast<double>(cost.count()) / speed)};
}

/// All units of a model, at speed 1.
double work_of(const unit_times& m) {
  auto step = std::accumulate(m.backward.begin(), m.backward.end(), duration::zero());
  for (std::size_t s = 0; s + 1 < m.backward.size(); ++s) {
    step += at(m.forward, s);
  }
  return static_cast<double>(step.count()) * m.steps;
}

/// Longest path of one model on a device that has nothing else to do. A version of a shard is ready when its gradients
/// are down and its update is done; a forward visit (the last shard's is part of its backward) must load it first.
class model_alone {
 public:
  model_alone(const unit_times& times, double speed) : times_(times), speed_(speed), ready_(times.backward.size()) {}

  /// End of the step's last unit.
  duration run_step() {
    const auto shards = ready_.size();
    for (std::size_t s = 0; s + 1 < shards; ++s) {
      load(s);
      now_ += time_on(speed_, at(times_.forward, s));
    }
    load(shards - 1);
    for (std::size_t s = shards; s-- > 0;) {
      now_ += time_on(speed_, times_.backward[s]);
      ready_[s] = now_ + at(times_.demote, s) + at(times_.update, s);
    }
    return now_;
  }

  duration last_version() const { return *std::ranges::max_element(ready_); }

 private:
  void load(std::size_t s) { now_ = std::max(now_, ready_[s] + at(times_.promote, s)); }

  const unit_times& times_;
  double speed_;
  std::vector<duration> ready_;
  duration now_{};
};

/// The last shard's visit has the last wait of a step; what follows is rigid. So every step leaves the same state
/// behind, seen from its end, and all steps from the second on take equally long.
duration chain_of(const unit_times& m, double speed) {
  if (m.steps == 0 || m.backward.empty()) {
    return duration::zero();
  }
  model_alone alone{m, speed};
  const auto first = alone.run_step();
  const auto tail = alone.last_version() - first;
  const auto each = alone.run_step() - first;
  return first + each * (m.steps - 1) + tail;
}

duration work_bound(std::span<const unit_times> models, std::span<const double> speeds) {
  double work = 0;
  for (const auto& m : models) {
    work += work_of(m);
  }
  const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return duration{static_cast<std::int64_t>(work / speed)};
}

}  // namespace

bounds lower_bounds(std::span<const unit_times> models, std::span<const double> speeds) {
  bounds b;
  if (speeds.empty()) {
    return b;
  }
  b.work = work_bound(models, speeds);
  for (const auto& m : models) {
    b.chain = std::max(b.chain, chain_of(m, std::ranges::max(speeds)));
  }
  return b;
}

}  // namespace hydra
