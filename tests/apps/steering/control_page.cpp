// What docs/control.md says is true.

#include "apps/steering/control_server.hpp"
#include "tests/apps/steering/fake_steering.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hydra::apps {

namespace {

std::string page() {
  std::ostringstream text;
  text << std::ifstream{std::filesystem::path{HYDRA_SOURCE_DIR} / "docs/control.md"}.rdbuf();
  return text.str();
}

/// All its code in that language.
std::string code_of(const std::string& page, const std::string& language) {
  std::string code;
  for (std::size_t at = 0; (at = page.find("```" + language + "\n", at)) != std::string::npos;) {
    at = page.find('\n', at) + 1;
    const std::size_t end = page.find("```", at);
    code += page.substr(at, end - at) + "\n";
    at = end + 3;
  }
  return code;
}

}  // namespace

TEST_CASE("the Python of the page about steering stops the worst model", "[docs]") {
  const temporary_folder folder;
  const auto run_folder = folder.path() / "runs/quickstart";
  std::filesystem::create_directories(run_folder);
  fake_steering run{{{"gpt-a", "training", 1, 10, 2.5}, {"gpt-b", "training", 1, 10, 3.5}}};
  const control_server server{run, run_folder};
  folder.write("notebook.py", code_of(page(), "python"));
  CHECK(std::system(("cd '" + folder.path().string() + "' && python3 notebook.py").c_str()) == 0);
  CHECK(run.asked() == std::vector<std::string>{"stop gpt-b"});
}

}  // namespace hydra::apps
