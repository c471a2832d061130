#include "tests/actors/simulation/shipped_instances.hpp"

#include "tests/support/places.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace hydra::test {

std::filesystem::path instances_folder() { return std::filesystem::path{HYDRA_SOURCE_DIR} / "apps" / "instances"; }

std::vector<std::filesystem::path> shipped_instances() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{instances_folder()}) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

const nlohmann::json& reference_of(const std::string& instance) {
  static const auto all = nlohmann::json::parse(text_of(HYDRA_SOURCE_DIR "/tests/actors/simulation/reference.json"));
  return all.at("instances").at(instance);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace hydra::test
