#include "runtime/plugin/own_plugins.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using Catch::Contains;
namespace fs = std::filesystem;

TEST_CASE("Hydra's own plug-ins are searched in the library folders next to the program", "[plugin]") {
  const test::temporary_folder prefix;
  const auto program = prefix.write("bin/hydra", "no ELF file");
  const auto file = prefix.write("lib64/hydra/libhydra_cuda.so", "");
  prefix.write("lib/hydra/libhydra_other.so", "");
  prefix.write("share/hydra/libhydra_cuda.so", "");
  const auto folders = own_plugin_folders(program);
  const auto root = fs::canonical(prefix.path());
  CHECK(folders == std::vector<fs::path>{root / "lib/hydra", root / "lib64/hydra"});
  CHECK(fs::equivalent(find_own_plugin("cuda", folders), file));
}

TEST_CASE("a program that links Hydra elsewhere finds them in its run path", "[plugin]") {
  const auto program = test::test_plugin("needs_several");  // its run path is $ORIGIN/hydra
  const auto folders = own_plugin_folders(program);
  CHECK(std::ranges::count(folders, fs::canonical(program).parent_path() / "hydra") == 1);
}

TEST_CASE("a missing plug-in of Hydra's own is refused with what to do", "[plugin]") {
  CHECK_THROWS_WITH(find_own_plugin("x", {"/nowhere/hydra"}), Contains("libhydra_x.so") && Contains("\"/nowhere/hydra\""));
  CHECK_THROWS_WITH(find_own_plugin("x", {}), Contains("no folder lib/hydra next to the program"));
  CHECK_THROWS_WITH(find_own_plugin("cuda", {}), Contains("built without CUDA: ") || Contains("install Hydra again"));
}
