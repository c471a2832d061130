#pragma once
// Detects devices on which units fail that other devices complete. Pure. Standard library only.

#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// A device that is broken, and what was thrown there last.
struct broken_device {
  device_id device;
  std::string thrown;
};

/// A throw alone does not say whether the device is broken or the model; the next attempt on another device does. A device
/// is broken if units of two models that have thrown there were completed on other devices, and it has completed none
/// meanwhile. A unit that throws on every device is never completed, so no device is blamed for it. A model that throws the
/// same text on two devices is the cause itself, even if some of its attempts succeed (a data race in a user's layer). The
/// last device is never broken.
class device_health {
 public:
  void add_device(device_id device) { throws_.try_emplace(device); }
  void device_left(device_id device);
  void model_left(model_id model);

  /// An operation of the unit has thrown there.
  void unit_threw(device_id device, const unit& u, const std::string& text);

  /// The devices that are broken, as this completion shows; each counts as having left.
  std::vector<broken_device> unit_completed(device_id device, const unit& u);

 private:
  /// Since the last completed unit of the device.
  struct throw_record {
    std::map<unit, std::string> open{};  ///< visits that no other device has completed yet
    std::set<model_id> blaming{};        ///< of visits that another device has completed
  };
  /// What a model has thrown last, without numbers, and where.
  struct suspicion {
    std::string text;
    std::set<device_id> devices{};
  };
  void acquit_devices(model_id model);
  void forget_open(model_id model);

  std::map<device_id, throw_record> throws_;
  std::map<model_id, suspicion> suspected_;
};

/// Text without digits: these tell devices, units and sizes apart, not causes.
std::string without_numbers(std::string_view text);

}  // namespace hydra
