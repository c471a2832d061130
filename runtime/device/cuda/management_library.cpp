#include "runtime/device/cuda/management_library.hpp"

#include <dlfcn.h>

namespace hydra {

namespace {

// The used part of nvml.h, which is not in every toolkit; its ABI is stable.
struct memory_info {
  unsigned long long total, free, used;
};
using handle = void*;

template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void close(void* library) noexcept {
  if (auto* const end = function_of<int()>(library, "nvmlShutdown")) {
    end();
  }
  dlclose(library);
}

std::shared_ptr<void> open() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return nullptr;
  }
  auto* const begin = function_of<int()>(library, "nvmlInit_v2");
  if (begin == nullptr || begin() != 0) {
    dlclose(library);
    return nullptr;
  }
  return {library, close};
}

/// What the library says of the GPU in a variable of that type.
template <class Said>
std::optional<Said> said(void* library, handle gpu, const char* function) noexcept {
  auto* const tell = library == nullptr ? nullptr : function_of<int(handle, Said*)>(library, function);
  Said value{};
  return tell != nullptr && tell(gpu, &value) == 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

managed_gpu::managed_gpu(const std::string& bus) : library_(open()) {
  auto* const find =
      library_ ? function_of<int(const char*, handle*)>(library_.get(), "nvmlDeviceGetHandleByPciBusId_v2") : nullptr;
  if (find == nullptr || find(bus.c_str(), &gpu_) != 0) {
    library_ = nullptr;
  }
}

std::optional<byte_count> managed_gpu::memory_in_use() const noexcept {
  const auto m = said<memory_info>(library_.get(), gpu_, "nvmlDeviceGetMemoryInfo");
  return m ? std::optional(byte_count{m->used}) : std::nullopt;
}

std::optional<double> managed_gpu::joules() const noexcept {
  const auto millijoules = said<unsigned long long>(library_.get(), gpu_, "nvmlDeviceGetTotalEnergyConsumption");
  return millijoules ? std::optional(static_cast<double>(*millijoules) / 1e3) : std::nullopt;
}

}  // namespace hydra
