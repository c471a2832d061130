#pragma once
// A device on which the test itself completes operations, one by one; closures are never run.

#include "runtime/device/device.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hydra::test {

/// Records what is submitted. Obeys the rules of a device: an operation runs only after those before it on its queue
/// and those it names, as dependency_failed if one of these failed; its closure is destroyed before it is reported;
/// reports of one queue keep their order. Reports of different queues may come in any.
class scripted_device final : public device {
 public:
  explicit scripted_device(byte_count memory);

  const device_info& info() const noexcept override { return info_; }
  void on_completion(completion_sink sink) override { sink_ = std::move(sink); }
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after) override;
  memory_usage memory() const noexcept override { return {{}, {}, info_.memory}; }
  bool stop(duration) noexcept override { return pending_.empty(); }

  /// The state of an operation, now or after its end.
  struct submitted {
    queue_kind queue;
    std::string text;             ///< "execute_shard a forward 0 step 0 micro-batch 1"
    std::vector<ticket> after;
    duration estimate{};
    bool waits_for(ticket t) const;
  };

  /// The operation whose text holds `part`, the latest of several; fails the test if there is none.
  ticket find(const std::string& part) const;
  bool has(const std::string& part) const { return !all(part).empty(); }
  std::vector<ticket> all(const std::string& part) const;
  const submitted& at(ticket t) const { return history_.at(t); }
  bool is_pending(ticket t) const { return pending_.contains(t); }
  std::size_t pending() const noexcept { return pending_.size(); }

  /// Operations that may run now.
  std::vector<ticket> ready() const;
  /// Ends an operation without a report yet, with `error` unless it is skipped. Fails the test if it may not run now.
  void finish(ticket t, const fault& error = {});
  /// Reports the first operation of a queue that has ended unreported; false if there is none.
  bool report(queue_kind queue);
  bool has_report(queue_kind queue) const;
  /// Both, with all reports of its queue that are due.
  void complete(ticket t, const fault& error = {});
  void complete(const std::string& part, const fault& error = {}) { complete(find(part), error); }
  /// Completes everything that can; returns how many operations that were.
  std::size_t drain();

 private:
  bool is_ready(ticket t) const;
  fault verdict(ticket t, const fault& error) const;

  device_info info_;
  completion_sink sink_;
  std::map<ticket, submitted> history_;
  std::map<ticket, operation> pending_;
  std::set<ticket> failed_;
  std::map<queue_kind, std::deque<completion>> unreported_;
  time_point now_{std::chrono::seconds{1}};
};

}  // namespace hydra::test
