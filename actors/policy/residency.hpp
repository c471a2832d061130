#pragma once
// Which device has which parameters in its cache, as the devices report it. Standard library only.

#include "runtime/base/block_id.hpp"
#include "runtime/base/unit.hpp"

#include <optional>
#include <span>
#include <vector>

namespace hydra {

/// Indexed by shard, not by device: the cost of a decision does not depend on the number of cached blocks.
class residency {
 public:
  /// Net changes of a device's cache since its last report. Other kinds than parameters are passed over.
  void report(device_id device, std::span<const block_id> cached, std::span<const block_id> dropped);
  void forget(device_id device);
  /// The model has left: its entries are not needed any more, but those of a base, which other models may read.
  void forget(model_id model);

  struct places {
    bool here = false;
    std::optional<device_id> elsewhere{};  ///< the first one
  };
  /// Of the frozen parameters that the unit reads, if they are given; else of its parameter version.
  places of(const unit& u, const std::optional<block_id>& base, device_id device) const noexcept;

 private:
  struct copy {
    device_id device;
    std::optional<version_index> version;   ///< none: a base
    friend bool operator==(const copy&, const copy&) = default;
  };
  using copies = std::vector<copy>;
  bool knows(const block_id& block) const noexcept;
  copies& copies_of(const block_id& block);
  std::vector<std::vector<copies>> held_;  ///< by model and shard
};

}  // namespace hydra
