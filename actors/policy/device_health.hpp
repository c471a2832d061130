#pragma once
// Detects devices on which units fail that other devices complete. Pure. Standard library only.

#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// A device that is broken, and what was thrown there last.
struct broken_device {
  device_id device;
  std::string thrown;
};

/// A throw alone does not say whether the device is broken or the model; the next attempt on another device does. A
/// device is broken if `enough` units, of two models at least, that have thrown there were completed on other devices,
/// and it has completed none meanwhile. A unit that throws on every device is never completed, so no device is blamed
/// for it. Models whose units throw at random (a data race in a user's layer) practically never blame one: that many
/// throws in a row are too rare. What the texts say decides nothing: devices that are broken in the same way throw the
/// same one. The last device is never broken.
class device_health {
 public:
  static constexpr std::size_t enough = 8;

  void add_device(device_id device) { throws_.try_emplace(device); }
  void device_left(device_id device) { throws_.erase(device); }
  void model_left(model_id model);

  /// An operation of the unit has thrown there.
  void unit_threw(device_id device, const unit& u, const std::string& text);

  /// The devices that are broken, as this completion shows; each counts as having left.
  std::vector<broken_device> unit_completed(device_id device, const unit& u);

 private:
  /// Since the last completed unit of the device.
  struct throw_record {
    std::map<unit, std::string> open{};  ///< visits that no other device has completed yet
    std::size_t blaming = 0;             ///< visits that another device has completed
    std::set<model_id> models{};         ///< whose visits these are
  };

  std::map<device_id, throw_record> throws_;
};

}  // namespace hydra
