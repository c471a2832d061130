#include "runtime/device/cuda/management_library.hpp"

#include <dlfcn.h>

#include <memory>

namespace hydra {

namespace {

// The used part of nvml.h, which is not in every toolkit; its ABI is stable.
struct memory_info {
  unsigned long long total, free, used;
};
using handle = void*;

struct library_closer {
  void operator()(void* library) const noexcept { dlclose(library); }
};

template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::optional<byte_count> ask(void* library, const std::string& bus) {
  auto* const find = function_of<int(const char*, handle*)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  auto* const tell = function_of<int(handle, memory_info*)>(library, "nvmlDeviceGetMemoryInfo");
  handle gpu = nullptr;
  memory_info m{};
  if (find == nullptr || tell == nullptr || find(bus.c_str(), &gpu) != 0 || tell(gpu, &m) != 0) {
    return std::nullopt;
  }
  return byte_count{m.used};
}

}  // namespace

std::optional<byte_count> gpu_memory_in_use(const std::string& bus) noexcept {
  const std::unique_ptr<void, library_closer> library{dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
  if (!library) {
    return std::nullopt;
  }
  auto* const begin = function_of<int()>(library.get(), "nvmlInit_v2");
  auto* const end = function_of<int()>(library.get(), "nvmlShutdown");
  if (begin == nullptr || end == nullptr || begin() != 0) {
    return std::nullopt;
  }
  const auto used = ask(library.get(), bus);
  end();
  return used;
}

}  // namespace hydra
