#include "runtime/storage/atomic_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>

using namespace hydra;

namespace atomic_file_test {

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

TEST_CASE("a file is replaced as a whole and nothing is left next to it") {
  const test::temporary_folder folder;
  const auto file = folder.path() / "report.json";
  write_atomically(file, "a long first version");
  write_atomically(file, "second");
  REQUIRE(content_of(file) == "second");
  REQUIRE(folder.files() == 1);
}

TEST_CASE("the old file stays while the new one is being written") {
  const test::temporary_folder folder;
  const auto file = folder.path() / "report.json";
  write_atomically(file, "first");
  std::string seen;
  write_atomically(file, [&](std::ostream& out) {
    out << "second" << std::flush;
    seen = content_of(file);
  });
  REQUIRE(seen == "first");
  REQUIRE(content_of(file) == "second");
}

TEST_CASE("a failure while writing leaves the old file and no other") {
  const test::temporary_folder folder;
  const auto file = folder.path() / "report.json";
  write_atomically(file, "first");
  REQUIRE_THROWS_AS(write_atomically(file, [](std::ostream&) { throw std::logic_error{"half-way"}; }),
                    std::logic_error);
  REQUIRE_THROWS_AS(write_atomically(file, [](std::ostream& out) { out.setstate(std::ios::badbit); }), fault_error);
  REQUIRE(content_of(file) == "first");
  REQUIRE(folder.files() == 1);
}

TEST_CASE("a folder that does not exist is named") {
  try {
    write_atomically("no/such/folder/report.json", "lost");
    FAIL("the file was written");
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::io);
    REQUIRE_THAT(e.what(), Catch::Contains("no/such/folder/report.json") && Catch::Contains("No such file"));
  }
}

}  // namespace atomic_file_test
