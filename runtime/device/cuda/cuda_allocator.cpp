#include "runtime/device/cuda/cuda_allocator.hpp"

#include "runtime/base/fault.hpp"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace hydra {

namespace {

namespace library = c10::cuda::CUDACachingAllocator;

/// LibTorch's allocator binds a block to the stream that is current at its allocation.
class forwarding_pool final : public tensor_pool {
 public:
  explicit forwarding_pool(library::CUDAAllocator* to) : to_(to) {}
  c10::DeviceType device_type() const noexcept override { return c10::kCUDA; }
  void* allocate(std::size_t n) override { return to_->raw_alloc(n); }
  void release(void* p) noexcept override { to_->raw_delete(p); }

 private:
  library::CUDAAllocator* to_;
};

/// The pool of each block. Never destroyed: tensors may outlive all other objects.
class router {
 public:
  explicit router(library::CUDAAllocator* own) : library_(own), own_(std::make_shared<forwarding_pool>(own)) {}

  void empty_cache() { library_->emptyCache(); }

  const std::shared_ptr<tensor_pool>& own() const noexcept { return own_; }

  void* allocate(std::size_t n) {
    auto pool = current_pool(c10::kCUDA);
    if (!pool) pool = own_;
    void* const p = pool->allocate(n);
    const std::lock_guard lock{mutex_};
    owners_.insert_or_assign(p, std::move(pool));
    return p;
  }

  void release(void* p) {
    std::shared_ptr<tensor_pool> pool;
    {
      const std::lock_guard lock{mutex_};
      auto owner = owners_.extract(p);
      if (owner.empty()) {
        return;
      }
      pool = std::move(owner.mapped());
    }
    pool->release(p);
  }

 private:
  library::CUDAAllocator* library_;
  std::shared_ptr<tensor_pool> own_;
  std::mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<tensor_pool>> owners_;
};

router* make_router() {
  auto* const own = library::get();
  if (own->initialized()) {
    throw fault_error(fault_code::internal,
                      "CUDA tensors were made before the first CUDA device of Hydra; make the device first");
  }
  auto* const made = new router(own);
  namespace pluggable = torch::cuda::CUDAPluggableAllocator;
  pluggable::changeCurrentAllocator(pluggable::createCustomAllocator(
      [made](std::size_t n, int, cudaStream_t) { return n == 0 ? nullptr : made->allocate(n); },
      [made](void* p, std::size_t, int, cudaStream_t) { made->release(p); }));
  c10::SetAllocator(c10::kCUDA, library::get(), 1);
  own->init(c10::cuda::device_count());
  return made;
}

router& the_router() {
  static router* const only = make_router();
  return *only;
}

}  // namespace

void install_cuda_router() { the_router(); }

void empty_library_cache() { the_router().empty_cache(); }

std::shared_ptr<tensor_pool> library_pool() { return the_router().own(); }

}  // namespace hydra
