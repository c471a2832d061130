#include "runtime/storage/free_space.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

TEST_CASE("the room for a folder is that of the file system in which it is or will be made") {
  const test::temporary_folder folder;
  const auto here = std::filesystem::space(folder.path());
  for (const auto& place : {folder.path(), folder.path() / "runs" / "new"}) {
    const auto room = free_space(place);
    REQUIRE(room);
    CHECK(room->value() <= here.capacity);
    CHECK(room->value() > 0);
  }
}

TEST_CASE("a file system that has no size does not say how much room it has") { CHECK_FALSE(free_space("/proc")); }
