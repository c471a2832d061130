#pragma once
// Which device holds which parameters, as the devices report it. Standard library only.

#include "runtime/block_id.hpp"

#include <span>
#include <unordered_map>
#include <vector>

namespace hydra {

/// Kept by block, not by device: a decision asks once per announced unit, however full the caches are.
class residency {
 public:
  /// Net changes of a device's cache since its last report. Other kinds than parameters are passed over.
  void report(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped);
  void forget(device_id device);
  std::span<const device_id> holders(const block_id& parameters) const;

 private:
  void add(device_id device, const block_id& block);
  void remove(device_id device, const block_id& block);
  std::unordered_map<block_id, std::vector<device_id>> holders_;
};

}  // namespace hydra
