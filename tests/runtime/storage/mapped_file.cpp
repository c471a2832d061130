#include "runtime/storage/mapped_file.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

TEST_CASE("a mapped file that is written to is refused, one that is replaced or removed stays readable and unchanged") {
  const temporary_folder folder;
  const auto file = folder.write("a", "12345678");
  const mapped_file mapped{file};
  CHECK_NOTHROW(mapped.require_unchanged());
  std::filesystem::rename(folder.write("b", "1"), file);
  CHECK_NOTHROW(mapped.require_unchanged());
  CHECK(mapped.bytes().size() == 8);
  CHECK(mapped.bytes().back() == std::byte{'8'});
  std::filesystem::remove(file);
  CHECK_NOTHROW(mapped.require_unchanged());
}

TEST_CASE("a mapped file that became shorter, or has other bytes, is refused") {
  const temporary_folder folder;
  const auto file = folder.write("a", "12345678");
  const mapped_file mapped{file};
  SECTION("shorter") { std::filesystem::resize_file(file, 4); }
  SECTION("other bytes, written later") {
    std::ofstream{file, std::ios::in} << "other...";
    std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds{1});
  }
  CHECK_THROWS_WITH(mapped.require_unchanged(), Contains(file.string()) && Contains("has been written to since"));
}

TEST_CASE("a pointer of Git LFS is not mapped in the place of the file") {
  const temporary_folder folder;
  const auto file =
      folder.write("data.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n");
  CHECK_THROWS_WITH(mapped_file{file}, Contains("data.txt: is a pointer of Git LFS") && Contains("git lfs pull"));
}
