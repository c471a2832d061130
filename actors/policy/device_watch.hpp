#pragma once
// Detects devices that have stopped responding. Pure: time is passed in. Standard library only.

#include "actors/policy/flight.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>

namespace hydra {

/// How long a device that holds units may go without a sign of life: `factor` times the longest time that one of them
/// (its computation and its copies) is expected to take there, and never less than `minimum`.
struct watch_limits {
  duration minimum = std::chrono::seconds(30);  ///< zero: no limit
  double factor = 20;
};

/// A device that is silent, and for how long.
struct silence {
  device_id device;
  duration lasted{};
};

/// A sign of life is the start of a unit, its completion or its failure. A device that holds units but computes none
/// may wait for host memory that others hold: it gets the longest limit of all devices in addition. For the same reason
/// only one device at a time is reported, and the loss of a device counts as a sign of life of all others.
class device_watch {
 public:
  explicit device_watch(const watch_limits& limits) : limits_(limits) {}

  void sign_of_life(device_id device, time_point now) { signs_[device] = now; }
  /// `copies`: time of the copies of a unit there.
  void measured(device_id device, duration copies);
  /// It is not watched any more.
  void device_left(device_id device, time_point now);

  /// When to check again; none if there is nothing to watch.
  std::optional<time_point> next_look(std::span<const device_load> loads);
  /// To be called at about the time that next_look returned. A call that is far too late (the program was suspended)
  /// reports no device: devices were suspended, too.
  std::optional<silence> look(std::span<const device_load> loads, time_point now);

 private:
  duration limit_of(const device_load& load) const;
  duration longest_limit(std::span<const device_load> loads) const;
  time_point deadline_of(const device_load& load, duration longest) const;
  time_point quiet_since(const device_load& load) const;
  bool watches(const device_load& load) const { return !left_.contains(load.device); }

  watch_limits limits_;
  std::map<device_id, time_point> signs_;
  std::map<device_id, duration> copies_;   ///< longest measured
  std::set<device_id> left_;
  std::optional<time_point> all_alive_;    ///< when all of them are known to have responded
  std::optional<time_point> due_;
};

}  // namespace hydra
