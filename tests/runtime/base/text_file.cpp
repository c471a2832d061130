#include "runtime/base/text_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("a file is read whole, an empty one and one with zero bytes as well") {
  const temporary_folder folder;
  const std::string text = std::string(200000, 'x') + std::string("\0\n", 2);
  CHECK(read_text(folder.write("long", text)) == text);
  CHECK(read_text(folder.write("empty", "")).empty());
}

TEST_CASE("a folder, a pipe or a missing file is refused by name") {
  const temporary_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_text(pipe), StartsWith(pipe.string()) && Contains("is no regular file"));
  CHECK_THROWS_WITH(read_text(folder.path()), Contains("a folder; a file is expected"));
  CHECK_THROWS_WITH(read_text(folder.path() / "none"), Contains("none: no such file"));
}

TEST_CASE("a file that cannot be read is refused with the system's reason") {
  CHECK_THROWS_WITH(read_text("/proc/self/mem"), Contains("/proc/self/mem: cannot be read: "));
}

TEST_CASE("a pointer of Git LFS is refused with what gets the file, a text that quotes one is not") {
  const temporary_folder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
  CHECK_THROWS_WITH(read_text(folder.write("tokenizer.json", pointer)), Contains("tokenizer.json: is a pointer of Git LFS") &&
                                                                            Contains("git lfs pull"));
  CHECK(read_text(folder.write("quoted", "a " + pointer)) == "a " + pointer);
  const std::string longer = pointer + std::string(1000, 'x');
  CHECK(read_text(folder.write("longer", longer)) == longer);
}
