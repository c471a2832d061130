#include "runtime/device/cpu/tensor_pool.hpp"

#include <utility>

namespace hydra {

namespace {

thread_local std::shared_ptr<tensor_pool> current;
const std::shared_ptr<tensor_pool> no_pool;

}  // namespace

void* tensor_pool::try_allocate(std::size_t n) noexcept {
  try {
    return allocate(n);
  } catch (...) {
    return nullptr;
  }
}

const std::shared_ptr<tensor_pool>& current_pool(c10::DeviceType type) noexcept {
  return current && current->device_type() == type ? current : no_pool;
}

allocate_from::allocate_from(std::shared_ptr<tensor_pool> pool) noexcept
    : previous_(std::exchange(current, std::move(pool))) {}

allocate_from::~allocate_from() { current = std::move(previous_); }

}  // namespace hydra
