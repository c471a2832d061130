#include "tests/apps/temporary_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace hydra::apps {

namespace {

std::filesystem::path make_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "hydra_test_XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error{"no temporary folder"};
  return pattern;
}

}  // namespace

temporary_folder::temporary_folder() : path_{make_folder()} {}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path temporary_folder::write(const std::string& name, const std::string& text) const {
  std::ofstream{path_ / name} << text;
  return path_ / name;
}

std::string temporary_folder::read(const std::filesystem::path& name) const {
  std::ostringstream text;
  text << std::ifstream{path_ / name}.rdbuf();
  return text.str();
}

}  // namespace hydra::apps
