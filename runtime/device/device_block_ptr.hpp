#pragma once
// Handles of blocks on a device, for those that never look inside.

#include <memory>

namespace hydra {

struct device_block;

using device_block_ptr = std::shared_ptr<device_block>;

/// A block whose tensor has not been created yet.
device_block_ptr make_device_block();
/// Whether an operation has created its tensor; in a simulation none does.
bool has_tensor(const device_block& block);

}  // namespace hydra
