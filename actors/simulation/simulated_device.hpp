#pragma once
// A device under a virtual clock: the rules of the real queues, no threads, no tensors.

#include "runtime/device/device.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <unordered_map>

namespace hydra {

/// Operations are never run; they take their estimate / speed (computations) or latency + bytes / link (copies). All
/// times are known at submission, so the completion is passed to a timer at once.
class simulated_device final : public device {
 public:
  using clock_reader = std::function<time_point()>;
  using length_reader = std::function<std::optional<duration>(queue_kind, const operation&)>;
  /// Delivers a completion of a queue after a delay on the virtual clock.
  using timer = std::function<void(queue_kind, duration, const completion&)>;

  simulated_device(device_info info, clock_reader now);

  /// To be set before the first submit; replaces the sink.
  void deliver_by(timer deliver) { deliver_ = std::move(deliver); }
  /// Computations take up to `share` longer or shorter than their estimate, the same ones for the same seed.
  void shake(double share, std::uint64_t seed);
  /// Destroys the closures of operations that have ended by `now`, with what they hold, as a device does before it
  /// reports them.
  void release_ended(time_point now) { held_.erase(held_.begin(), held_.upper_bound(now)); }
  /// End of all operations submitted to the compute queue so far.
  time_point computed() const noexcept { return queue_free_[static_cast<std::size_t>(queue_kind::compute)]; }
  /// Decides at each submission whether the operation fails (fault injection); null: none does.
  void inject(std::function<fault(queue_kind, const operation&)> faults) { faults_ = std::move(faults); }
  /// Called first for the time of an operation; none: its estimate or its bytes decide. To be set before the first
  /// submit.
  void time_by(length_reader lengths) { lengths_ = std::move(lengths); }

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink) override {}
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return {{}, {}, info_.memory}; }
  bool stop(duration) noexcept override { return stopped_ = true; }  // nothing ever runs

 private:
  struct outcome {
    time_point end;
    bool failed = false;
  };
  duration length_of(queue_kind queue, const operation& op);
  outcome wait_for(std::span<const ticket> after, time_point now);
  void forget_before(time_point now);

  device_info info_;
  clock_reader now_;
  timer deliver_;
  std::function<fault(queue_kind, const operation&)> faults_;
  length_reader lengths_;
  time_point queue_free_[3];
  std::unordered_map<std::uint64_t, outcome> outcomes_;   ///< of tickets that have not ended, or failed
  std::multimap<time_point, std::function<void()>> held_;               ///< by their ends
  std::uint64_t last_ = 0;
  double noise_ = 0;
  std::mt19937_64 draws_;
  bool stopped_ = false;
};

}  // namespace hydra
