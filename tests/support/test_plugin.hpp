#pragma once
// Where the plug-ins of tests/support/plugins/ are built.

#include <filesystem>
#include <string>

namespace hydra::test {

inline std::filesystem::path test_plugin(const std::string& name) {
  return std::filesystem::path{HYDRA_TEST_PLUGINS} / (name + ".so");
}

}  // namespace hydra::test
