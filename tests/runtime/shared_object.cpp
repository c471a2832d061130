#include "runtime/shared_object.hpp"

#include "tests/support/temporary_file.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using hydra::test::test_plugin;

TEST_CASE("a shared object names the libraries it needs and where it looks for them first", "[plugin]") {
  const auto object = read_shared_object(test_plugin("needs_several"));
  REQUIRE(object);
  for (const std::string name : {"libhydra_stub_one.so", "libhydra_stub_two.so", "libhydra_stub_near.so", "libc.so.6"}) {
    INFO(name);
    CHECK(std::ranges::count(object->needed, name) == 1);
  }
  const auto folder = std::filesystem::canonical(test_plugin("needs_several")).parent_path();
  CHECK(object->run_path == std::vector<std::filesystem::path>{folder / "hydra"});
}

TEST_CASE("a program is read as a shared object is, and what is no ELF file is none", "[plugin]") {
  CHECK(read_shared_object("/proc/self/exe"));
  CHECK_FALSE(read_shared_object("/nowhere/libx.so"));
  CHECK_FALSE(read_shared_object(test::temporary_file{"text, longer than the header of an ELF file, and yet none of it is one"}.path()));
  CHECK_FALSE(read_shared_object(test::temporary_file{"\x7f" "ELF"}.path()));
}

TEST_CASE("an ELF file says how long it is at least; another file says nothing", "[plugin]") {
  for (const std::filesystem::path& file : {test_plugin("needs_several"), std::filesystem::path{"/proc/self/exe"}}) {
    const auto least = least_size(file);
    CHECK(least > std::filesystem::file_size(file) / 2);
    CHECK(least <= std::filesystem::file_size(file));
  }
  CHECK(least_size("/nowhere/libx.so") == 0);
  CHECK(least_size(test::temporary_file{"text, longer than the header of an ELF file, and yet none of it is one"}.path()) == 0);
}
