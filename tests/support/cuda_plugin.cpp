#include "tests/support/cuda_plugin.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/plugin/own_plugins.hpp"
#include "runtime/plugin/plugin.hpp"
#include "runtime/plugin/plugin_abi.hpp"

#include <cstdlib>

#include <dlfcn.h>

namespace hydra::test {

namespace {

const plugin_item& offered() {
  static const plugin loaded = load_plugin(cuda_plugin_file(), plugin_abi);
  return loaded.items->front();
}

}  // namespace

std::filesystem::path cuda_plugin_file() {
  const char* const other = std::getenv("HYDRA_CUDA_PLUGIN");
  return other != nullptr ? other : find_own_plugin("cuda", own_plugin_folders());
}

std::string why_no_gpu() {
  try {
    static_cast<const device_about*>(offered().about.get())->find();
    return {};
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

std::unique_ptr<device> make_gpu(const device_request& request) {
  return std::unique_ptr<device>{static_cast<device*>(offered().make(&request))};
}

std::optional<std::uint64_t> counted_by_double(const char* what) {
  const auto ask = reinterpret_cast<std::uint64_t (*)(const char*)>(dlsym(RTLD_DEFAULT, "gpu_double_count"));
  return ask != nullptr ? std::optional(ask(what)) : std::nullopt;
}

}  // namespace hydra::test
