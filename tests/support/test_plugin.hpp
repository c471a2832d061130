#pragma once
// Where the plug-ins of tests/support/plugins/ are built.

#include <filesystem>
#include <string>

namespace hydra::test {

#ifdef HYDRA_TEST_PLUGINS  // the build says where
inline constexpr const char* test_plugins_folder = HYDRA_TEST_PLUGINS;
#else
inline constexpr const char* test_plugins_folder = ".";
#endif

inline std::filesystem::path test_plugin(const std::string& name) {
  return std::filesystem::path{test_plugins_folder} / (name + ".so");
}

}  // namespace hydra::test
