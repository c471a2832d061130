#pragma once
// Detects devices on which every unit fails. Pure. Standard library only.

#include "runtime/base/ids.hpp"

#include <map>
#include <optional>

namespace hydra {

/// A device is broken if operations of two different models in a row have thrown on it, without a completed unit
/// between them: with one model alone, the model may be the cause. The last device never counts as broken.
class device_health {
 public:
  void add_device(device_id device) { last_thrown_.try_emplace(device); }
  void device_left(device_id device) { last_thrown_.erase(device); }

  void unit_completed(device_id device) {
    if (const auto found = last_thrown_.find(device); found != last_thrown_.end()) {
      found->second.reset();
    }
  }

  /// An operation of the model has thrown there. True if the device is broken, until it has left.
  bool unit_threw(device_id device, model_id model) {
    const auto found = last_thrown_.find(device);
    if (found == last_thrown_.end()) {
      return false;
    }
    const bool again = found->second && *found->second != model;
    found->second = model;
    return again && last_thrown_.size() > 1;
  }

 private:
  std::map<device_id, std::optional<model_id>> last_thrown_;   ///< since the last completed unit
};

}  // namespace hydra
