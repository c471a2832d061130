#pragma once
// Where the plug-ins of tests/support/plugins/ are built.

#include "tests/support/places.hpp"

#include <filesystem>
#include <string>

namespace hydra::test {

inline constexpr const char* test_plugins_folder = HYDRA_TEST_PLUGINS;

inline std::filesystem::path test_plugin(const std::string& name) {
  return std::filesystem::path{test_plugins_folder} / (name + ".so");
}

}  // namespace hydra::test
