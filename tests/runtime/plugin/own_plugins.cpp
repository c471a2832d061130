#include "runtime/plugin/own_plugins.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

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
  const test::temporary_folder prefix;
  const auto there = prefix.write("lib/hydra/libhydra_cuda.so", "").parent_path();
  const std::vector<fs::path> searched{prefix.path() / "gone/hydra", there, there.parent_path(), there};
  CHECK(own_plugin_folders("/nowhere/bin/program", searched) == std::vector{there});
}

TEST_CASE("the folders that the loader searches have the libraries of this program", "[plugin]") {
  const auto has_torch = [](const fs::path& folder) { return fs::exists(folder / "libtorch_cpu.so"); };
  CHECK(std::ranges::any_of(loader_folders(), has_torch));  // by its run path
}

TEST_CASE("a missing plug-in of Hydra's own is refused with what to do", "[plugin]") {
  CHECK_THROWS_WITH(find_own_plugin("x", {"/nowhere/hydra"}),
                    Contains("libhydra_x.so") && Contains("\"/nowhere/hydra\""));
  CHECK_THROWS_WITH(find_own_plugin("x", {}), Contains("no folder lib/hydra next to the program"));
  CHECK_THROWS_WITH(find_own_plugin("cuda", {}), Contains("built without CUDA: ") || Contains("install Hydra again"));
}
