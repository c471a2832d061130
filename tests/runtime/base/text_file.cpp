#include "runtime/base/text_file.hpp"

#include "runtime/base/bytes.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("a file is read whole, an empty one and one with zero bytes as well") {
  const temporary_folder folder;
  const std::string text = std::string(200000, 'x') + std::string("\0\n", 2);
  CHECK(read_text(folder.write("long", text), text_kind::settings) == text);
  CHECK(read_text(folder.write("empty", ""), text_kind::settings).empty());
}

TEST_CASE("a file with more bytes than its kind may have is refused by name with both, before it is read") {
  const temporary_folder folder;
  for (const auto kind : {text_kind::key, text_kind::checksums, text_kind::settings, text_kind::prompt,
                          text_kind::graph, text_kind::plan, text_kind::vocabulary, text_kind::record}) {
    const auto file = folder.write("large", "");
    std::filesystem::resize_file(file, largest_text(kind) + 1);  // takes no space on the disk
    CHECK_THROWS_WITH(read_text(file, kind), StartsWith(file.string()) &&
                                                 Contains(std::to_string(largest_text(kind) + 1)) &&
                                                 Contains("may have " + to_string(byte_count{largest_text(kind)})));
  }
  const auto file = folder.write("just", "");
  std::filesystem::resize_file(file, largest_text(text_kind::key));
  CHECK(read_text(file, text_kind::key).size() == largest_text(text_kind::key));
}

TEST_CASE("a file of the kernel, which says that it is empty, is read to its end") {
  CHECK_THAT(read_text("/proc/self/status", text_kind::settings), Contains("Threads:"));
}

TEST_CASE("a file that cannot be read is refused with the system's reason") {
  CHECK_THROWS_WITH(read_text("/proc/self/mem", text_kind::settings), Contains("/proc/self/mem: cannot be read: "));
}

TEST_CASE("a pointer of Git LFS is refused with what gets the file, a text that quotes one is not") {
  const temporary_folder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
  CHECK_THROWS_WITH(read_text(folder.write("tokenizer.json", pointer), text_kind::settings),
                    Contains("tokenizer.json: is a pointer of Git LFS") && Contains("git lfs pull"));
  CHECK(read_text(folder.write("quoted", "a " + pointer), text_kind::settings) == "a " + pointer);
  const std::string longer = pointer + std::string(1000, 'x');
  CHECK(read_text(folder.write("longer", longer), text_kind::settings) == longer);
}
