#pragma once
// Observes every message of a simulated run and checks the rules of the protocol: credits, commits, announcements,
// losses.

#include "actors/device/pipeline_options.hpp"
#include "tests/support/overhear.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra::test {

struct witness_options {
  pipeline_options pipeline{};  ///< of the devices
  bool untroubled = true;    ///< nothing fails in this run: no unit may be tried twice
  bool works_always = true;  ///< the policy never keeps a slot free
  bool observed = false;     ///< by a controller: steps are acknowledged
};

/// Rules that are checked, in addition to the end of the run:
/// * a device returns no more credits than it has had units, and all of them once it holds no unit;
/// * a unit is announced when its parameter version (or the unit before it is on its device and may compute that there)
/// and
///   its minibatch are in host memory and, if steps are observed, the step before is acknowledged; it is staged once;
/// * nothing of a fenced device completes; of a failed unit and what follows it only newer attempts do;
/// * no unit that any device may stage waits while a device has credit;
/// * without trouble no lease is refused and no unit is tried twice.
class protocol_witness {
 public:
  protocol_witness(simulation& s, const witness_options& options);

  /// To be called before each message is handled.
  void notify(const overheard& m);
  /// To be called when no actor can run: every message has arrived.
  void rest();

  /// The first broken rule; empty if none.
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  bool has_room_for(const std::vector<device_id>& avoided) const;

  struct device_page {
    std::uint64_t slots = 0;
    std::uint64_t credits = 0;  ///< returned, as reported to the scheduler
    std::uint64_t staged = 0;   ///< units it had to stage
    std::uint64_t ended = 0;    ///< of them, as reported to the memory manager
    bool dead = false;          ///< as reported to the supervisor
    bool lost = false;          ///< as reported to the scheduler
  };
  struct lane_page {
    std::optional<unit> announced;
    std::vector<device_id> avoids;    ///< these devices, while there is another one; else the last of them
    std::optional<device_id> after;   ///< only there, while what it waits for is in flight there
    std::uint32_t least_attempt = 0;  ///< of announcements, since the last loss of which the task was notified
    std::set<unit> flights;
  };
  struct model_page {
    std::vector<std::uint32_t> versions;  ///< as reported to its task
    std::set<batch_range> batches;
    std::uint32_t acknowledged = 0;  ///< steps below this
    std::map<std::pair<replica_id, wave_index>, lane_page> lanes;
    lane_page& lane_of(const unit& u) { return lanes[{u.replica, u.wave}]; }
  };

  model_page& page_of(std::size_t model);  ///< models may join
  void at_scheduler(const overheard& m);
  void at_device(const overheard& m);
  void at_memory(const overheard& m);
  void at_task(const overheard& m);
  void on_announced(const unit_ready& m);
  bool follows_its_maker(model_page& page, const unit_ready& m) const;
  void on_freed(const device_freed& m);
  void on_completed(const shard_completed& m);
  void on_staged(const unit& u, std::size_t device);
  void on_lost(device_id device);
  bool awaits_sum(const model_page& page, const lane_page& lane) const;
  void complain(std::string what);

  witness_options options_;
  std::vector<device_page> devices_;
  std::vector<model_page> models_;
  std::set<unit> staged_;
  std::vector<unit> failed_;
  std::string complaint_;
};

}  // namespace hydra::test
