#pragma once
// A schedule made by the schedule tracker and a policy in virtual time: units take their time, parameters may be used
// once their version is ready and loaded, links and optimizer are free. Less restricted than any real run: bounds hold
// here, too.

#include "actors/policy/bounds.hpp"
#include "actors/policy/schedule_tracker.hpp"
#include "tests/actors/policy/units.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace hydra::test {

class tiny_simulation {
 public:
  /// Without double buffer a device gives its credit when it becomes idle: decisions are made late.
  tiny_simulation(std::vector<unit_times> models, const std::vector<double>& speeds, std::unique_ptr<policy> p,
                  bool double_buffer = true);

  /// Runs all models to their end; returns when the last version is ready. Check `completed` then: a policy that
  /// refuses to work ends the run early.
  duration run();

  std::size_t units() const;  ///< of all models
  std::size_t completed() const noexcept { return completed_.size(); }
  const std::vector<unit>& completed_units() const noexcept { return completed_; }  ///< in the order of their ends

 private:
  struct device {
    double speed = 1;
    std::optional<unit> staged;
    std::optional<unit> running;
  };
  struct model {
    unit_times times;
    std::vector<unit> chain;
    std::vector<time_point> loaded;  ///< when the version in use of each shard may be used
    std::size_t next = 0;            ///< first unit that is not announced
    std::size_t completed = 0;
    std::optional<device_id> newest;  ///< where the last announced unit was placed; none while it is not
    bool left = false;
  };
  void at_time(time_point t, std::function<void()> what) { events_.emplace(t, std::move(what)); }
  void announce(std::uint32_t m);
  void stage(const placement& p);
  void start(std::uint32_t d);
  void end(std::uint32_t d);
  void version_made(const unit& u);
  duration cost(const unit& u) const;
  bool uses_new_version(const model& m, const unit& u) const;

  schedule_tracker tracker_;
  bool double_buffer_;
  std::vector<model> models_;
  std::vector<device> devices_;
  std::multimap<time_point, std::function<void()>> events_;
  std::vector<unit> completed_;
  time_point now_;
  time_point last_version_;
};

}  // namespace hydra::test
