#include "runtime/device/device_block.hpp"

namespace hydra {

device_block_ptr make_device_block() { return std::make_shared<device_block>(); }

bool has_tensor(const device_block& block) { return block.tensor.defined(); }

}  // namespace hydra
