#include "runtime/device/cuda/library_memory.hpp"

#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/cuda/cuda_allocator.hpp"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace hydra {

namespace {

class library_memory final : public launch_memory,
                             public tensor_pool,
                             public std::enable_shared_from_this<library_memory> {
 public:
  library_memory(byte_count budget, byte_count beside) : budget_(budget), used_(beside), peak_(beside) {}
  ~library_memory() override {
    try {
      empty_library_cache();
    } catch (...) {
      // on a device that has failed nothing can be freed
    }
  }
  library_memory(const library_memory&) = delete;
  library_memory& operator=(const library_memory&) = delete;

  std::shared_ptr<void> launch(const launch_point&, std::function<void()>) override {
    return std::make_shared<allocate_from>(shared_from_this());
  }
  void retire(const launch_point&) noexcept override {}
  void give_up() noexcept override {}

  memory_usage usage() const noexcept override {
    const std::lock_guard lock{mutex_};
    return {used_, peak_, budget_};
  }

  c10::DeviceType device_type() const noexcept override { return c10::kCUDA; }
  void* allocate(std::size_t n) override {
    claim(charged_bytes(byte_count{n}));
    void* p = nullptr;
    try {
      p = library_->allocate(n);
    } catch (...) {
      credit(charged_bytes(byte_count{n}));
      throw;
    }
    const std::lock_guard lock{mutex_};
    blocks_.insert_or_assign(p, charged_bytes(byte_count{n}));
    return p;
  }

  void release(void* p) noexcept override {
    byte_count bytes;
    {
      const std::lock_guard lock{mutex_};
      bytes = blocks_.extract(p).mapped();
    }
    library_->release(p);
    credit(bytes);
  }

 private:
  void claim(byte_count n) {
    const std::lock_guard lock{mutex_};
    TORCH_CHECK_WITH(OutOfMemoryError, used_ + n <= budget_,
                     fmt::format("{} are needed; of the device's {}, {} are in use", to_string(n), to_string(budget_),
                                 to_string(used_)));
    used_ += n;
    peak_ = std::max(peak_, used_);
  }

  void credit(byte_count n) noexcept {
    const std::lock_guard lock{mutex_};
    used_ = byte_count{used_.value() - n.value()};
  }

  const std::shared_ptr<tensor_pool> library_ = library_pool();
  mutable std::mutex mutex_;
  std::unordered_map<void*, byte_count> blocks_;
  byte_count budget_;
  byte_count used_;
  byte_count peak_;
};

}  // namespace

std::shared_ptr<launch_memory> make_library_memory(byte_count budget, byte_count beside) {
  return std::make_shared<library_memory>(budget, beside);
}

std::shared_ptr<launch_memory> make_expandable_memory(byte_count budget, byte_count beside) {
  c10::CachingAllocator::setAllocatorSettings("expandable_segments:True");
  return make_library_memory(budget, beside);
}

}  // namespace hydra
