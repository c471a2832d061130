#include "runtime/base/path_kind.hpp"

#include "tests/support/temporary_folder.hpp"
#include "tests/support/ordinary_user.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace hydra;
using Catch::EndsWith;
using Catch::StartsWith;
using hydra::test::temporary_folder;

namespace fs = std::filesystem;

TEST_CASE("the kind of what is at a path is returned, also that nothing is there") {
  const temporary_folder folder;
  const fs::path file = folder.write("file", "text");
  CHECK(kind_of(folder.path()) == fs::file_type::directory);
  CHECK(kind_of(file) == fs::file_type::regular);
  CHECK(kind_of(folder.path() / "none") == fs::file_type::not_found);
  CHECK(kind_of(file / "below") == fs::file_type::not_found);
  CHECK(why_unknown(folder.path() / "none").empty());
}

TEST_CASE("a path that the system cannot inspect is refused with its reason") {
  const std::string name(300, 'a');
  CHECK_THROWS_WITH(kind_of(name), StartsWith("aaa") && EndsWith("…: File name too long"));
  CHECK_THROWS_WITH(kind_of(name, "--save"), StartsWith("--save aaa") && EndsWith(": File name too long"));
}

TEST_CASE("a file in a folder that may not be entered is not reported as missing") {
  const temporary_folder folder;
  const fs::path hidden = folder.write("hidden", "text");
  fs::permissions(folder.path(), fs::perms::none);
  {
    const test::ordinary_user somebody;
    CHECK(why_unknown(hidden) == "Permission denied");
    CHECK_THROWS_WITH(kind_of(hidden), hidden.string() + ": Permission denied");
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST_CASE("a path without end is the same with and without a slash") {
  CHECK(without_end("runs/./x/") == "runs/x");
  CHECK(without_end("runs/x") == "runs/x");
  CHECK(without_end("/") == "/");
}

TEST_CASE("a link to a folder that it is in leads back, any other does not") {
  const temporary_folder folder;
  fs::create_directories(folder.path() / "a" / "b");
  folder.write("other/file", "text");
  fs::create_directory_symlink("..", folder.path() / "a" / "b" / "back");
  fs::create_directory_symlink(".", folder.path() / "a" / "itself");
  fs::create_directory_symlink(folder.path() / "other", folder.path() / "a" / "on");
  fs::create_directory_symlink("round", folder.path() / "a" / "round");
  std::vector<std::string> found;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator{folder.path()})
    if (leads_back(e)) found.push_back(e.path().filename());
  std::ranges::sort(found);
  CHECK(found == std::vector<std::string>{"back", "itself"});
}

TEST_CASE("links of two folders to each other lead back") {
  const temporary_folder folder;
  for (const char* name : {"a", "b"}) fs::create_directory(folder.path() / name);
  fs::create_directory_symlink("../b", folder.path() / "a" / "on");
  fs::create_directory_symlink("../a", folder.path() / "b" / "back");
  CHECK_FALSE(leads_back(fs::directory_entry{folder.path() / "a" / "on"}));
  CHECK(leads_back(fs::directory_entry{folder.path() / "a" / "on" / "back"}));
}
