#include "models/data/token_list.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using namespace std::string_view_literals;

namespace {

fault_code code_of(const std::filesystem::path& path) {
  try {
    token_list::bytes_of(path);
  } catch (const fault_error& e) {
    return e.what_happened().code;
  }
  return fault_code::none;
}

}  // namespace

TEST_CASE("the tokens of a text are its bytes") {
  const temporary_file file{"a\xC3\xA4"};
  const token_list tokens = token_list::bytes_of(file.path());
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[0] == 'a');
  CHECK(tokens[1] == 0xC3);
}

TEST_CASE("a text that is not UTF-8 is refused with the byte's position") {
  const temporary_file file{"good\xFF"};
  CHECK_THROWS_WITH(token_list::bytes_of(file.path()), Contains(file.path().string()) && Contains("byte 4 is 0xff"));
}

TEST_CASE("token ids are little-endian words") {
  const temporary_file file{"\x01\x00\x00\x00\xFF\x01\x00\x00"sv};
  const token_list tokens = token_list::ids_of(file.path(), 512);
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0] == 1);
  CHECK(tokens[1] == 511);
}

TEST_CASE("a token id beyond the vocabulary is refused with its position") {
  const temporary_file file{"\x01\x00\x00\x00\xFF\x01\x00\x00"sv};
  CHECK_THROWS_WITH(token_list::ids_of(file.path(), 511), Contains("token 511 at position 1"));
}

TEST_CASE("missing, empty and torn files are refused by name") {
  const temporary_file empty{""}, torn{"\x01\x00\x00"sv};
  CHECK_THROWS_WITH(token_list::bytes_of("no such file"), Contains("no such file: no such file"));
  CHECK_THROWS_WITH(token_list::bytes_of(empty.path()), Contains("is empty"));
  CHECK_THROWS_WITH(token_list::ids_of(torn.path(), 9), Contains("3 bytes"));
  CHECK_THROWS_WITH(token_list::bytes_of("."), Contains(": a folder; a file is expected"));
  CHECK_THROWS_WITH(token_list::bytes_of(std::string(300, 'a')), Contains(": File name too long"));
  CHECK(code_of("no such file") == fault_code::bad_input);
}

TEST_CASE("copies of a list share its bytes and may outlive the original") {
  token_list copy;
  {
    const temporary_file file{"abc"};
    copy = token_list::bytes_of(file.path());
  }
  CHECK(copy[2] == 'c');
  copy = token_list{{7, 8}};
  CHECK(copy[1] == 8);
}
