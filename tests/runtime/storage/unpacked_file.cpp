#include "runtime/storage/unpacked_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/resource.h>

#include <zlib.h>
#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

std::filesystem::path write_gzip(const std::filesystem::path& file, const std::string& text, const char* mode = "wb") {
  const gzFile to = gzopen(file.c_str(), mode);
  REQUIRE(to);
  REQUIRE(gzwrite(to, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(to) == Z_OK);
  return file;
}

std::string text_of(const unpacked_file& f) {
  return {reinterpret_cast<const char*>(f.bytes().data()), f.bytes().size()};
}

}  // namespace

TEST_CASE("a gzip file's bytes are those that it unpacks to, of all its members") {
  const temporary_folder folder;
  std::string long_text;
  for (int i = 0; i < 400000; ++i) long_text += std::to_string(i);
  const auto file = write_gzip(folder.path() / "a.txt.gz", long_text);
  CHECK((text_of(unpacked_file{file}) == long_text));
  write_gzip(file, "more", "ab");
  const unpacked_file both{file};
  CHECK((text_of(both) == long_text + "more"));
  CHECK_NOTHROW(both.require_unchanged());
  write_gzip(file, "more", "ab");
  CHECK_THROWS_AS(both.require_unchanged(), fault_error);
}

TEST_CASE("zeros between the members of a gzip file are skipped, anything else is damage") {
  const temporary_folder folder;
  const auto file = write_gzip(folder.path() / "a.gz", "one");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + 512);
  write_gzip(file, "two", "ab");
  CHECK(text_of(unpacked_file{file}) == "onetwo");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 512 + 511);
  CHECK_THROWS_WITH(unpacked_file{file}, Contains("a.gz: the gzip file cannot be unpacked"));
  std::ofstream{file, std::ios::app} << "x";
  CHECK_THROWS_WITH(unpacked_file{file}, Contains("a.gz: the gzip file cannot be unpacked"));
}

TEST_CASE("what unpacks to more bytes than there is room for is refused, and leaves nothing") {
  const temporary_folder folder;
  const auto file = write_gzip(folder.path() / "a.gz", std::string(3'000'000, 'a'));
  CHECK(unpacked_file(file, 3'000'000).bytes().size() == 3'000'000);
  CHECK_THROWS_WITH(unpacked_file(file, 2'999'999), Contains("a.gz: it unpacks to more than half of what is free in "));
}

TEST_CASE("a process that is killed while it unpacks a file leaves nothing of it") {
  const temporary_folder folder;
  const auto file = write_gzip(folder.path() / "a.gz", std::string(3'000'000, 'a'));
  const auto there = folder.path() / "temporary";
  std::filesystem::create_directory(there);
  const auto end = in_child([&] {
    const rlimit none{0, 0}, little{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &little);  // the first write beyond it is the end of the process
    std::signal(SIGXFSZ, SIG_DFL);
    ::setenv("TMPDIR", there.c_str(), 1);
    unpacked_file{file};
    return 0;
  });
  CHECK(end.status == 1000 + SIGXFSZ);
  CHECK(std::filesystem::is_empty(there));
}

TEST_CASE("a file of another name is read as it is") {
  const temporary_folder folder;
  CHECK(text_of(unpacked_file{folder.write("a.txt", "plain")}) == "plain");
}

TEST_CASE("a gzip file that is damaged, empty or none is refused with its name") {
  const temporary_folder folder;
  const auto file = write_gzip(folder.path() / "a.gz", std::string(100000, 'a') + "b");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 9);
  CHECK_THROWS_WITH(unpacked_file{file}, Contains("a.gz: the gzip file cannot be unpacked"));
  CHECK_THROWS_WITH(unpacked_file{folder.write("b.gz", "no gzip")},
                    Contains("b.gz: the gzip file cannot be unpacked: incorrect header check"));
  CHECK_THROWS_WITH(unpacked_file{write_gzip(folder.path() / "c.gz", "")}, Contains("there is nothing in it"));
}

TEST_CASE("a gzip file that unpacks to a pointer of Git LFS is refused with its name") {
  const temporary_folder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
  const auto file = write_gzip(folder.path() / "a.gz", pointer);
  CHECK_THROWS_WITH(unpacked_file{file}, Contains(file.string() + ": is a pointer of Git LFS"));
}
