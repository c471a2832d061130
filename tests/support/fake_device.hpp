#pragma once
// A deterministic device for tests. It shares no code with the real devices, so that each checks the other.

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/device.hpp"

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace hydra::test {

/// Runs one operation at a time: always the one with the smallest ticket, so everything happens in the order of
/// submission. Its queues therefore do not overlap; everything else of the device checklist holds. Times are virtual:
/// each operation takes its estimate, at least 1 us. Tensors are charged as on the real device.
class fake_device final : public device {
 public:
  enum class drive {
    worker,   ///< a thread of the device runs what is submitted
    by_hand,  ///< nothing runs until the test calls step(); completions arrive on the test's thread
  };

  explicit fake_device(device_info info, drive mode = drive::worker);
  ~fake_device() override;

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override;
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return {account_.used(), account_.peak(), account_.limit()}; }
  /// By hand nothing completes meanwhile: it does not wait.
  bool stop(duration limit) noexcept override;

  // -- by hand ---

  /// Runs the first operation that is ready, of one queue or of all. False if there is none.
  bool step(std::optional<queue_kind> queue = std::nullopt);
  /// Steps until nothing is ready; returns how many operations completed.
  std::size_t drain();
  /// Operations submitted and not completed.
  std::size_t pending() const;

 private:
  struct entry {
    queue_kind queue;
    operation what;
    std::vector<ticket> after;
  };

  void work_until_closed();
  bool is_ready(ticket t, const entry& e) const;
  std::optional<ticket> first_ready(std::optional<queue_kind> queue) const;
  fault verdict_on(const entry& e) const;
  fault execute(operation op);
  void complete(ticket t, fault error, duration length);

  const device_info info_;
  const drive mode_;
  memory_account account_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ticket, entry> entries_;  ///< kept until completed
  std::set<ticket> failed_;
  completion_sink sink_;
  std::uint64_t issued_ = 0;
  time_point now_{std::chrono::seconds{1}};
  bool stopped_ = false;
  bool closing_ = false;
  std::thread worker_;
};

/// A device_info with a budget and harmless values.
device_info fake_info(byte_count memory, std::string name = "fake:0");

}  // namespace hydra::test
