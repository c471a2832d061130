#include "runtime/base/regular_file.hpp"

#include "runtime/base/text_file.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "runtime/storage/unpacked_file.hpp"
#include "tests/support/ordinary_user.hpp"
#include "tests/support/special_files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace fs = std::filesystem;

TEST_CASE("what is not a file is refused by everything that reads files, with what it is") {
  const temporary_folder folder;
  using reader = std::function<void(const fs::path&)>;
  const std::array readers{
      std::pair<const char*, reader>{"file", [](const fs::path& p) { regular_file{p}; }},
      std::pair<const char*, reader>{"stream", [](const fs::path& p) { file_stream{p}; }},
      std::pair<const char*, reader>{"text", [](const fs::path& p) { read_text(p, text_kind::record); }},
      std::pair<const char*, reader>{"mapped", [](const fs::path& p) { mapped_file{p}; }},
      std::pair<const char*, reader>{"packed.gz", [](const fs::path& p) { unpacked_file{p}; }}};
  for (const special_file& special : special_files()) {
    for (const auto& [name, read] : readers) {
      const fs::path place = folder.path() / name;
      special.make(place);
      const fault why = fault_of([&, &read = read] { read(place); });
      CHECK(why.code == fault_code::bad_input);
      CHECK_THAT(why.text, StartsWith(place.string() + ": " + special.refusal));
      fs::remove(place);
    }
  }
}

TEST_CASE("a file is read from any position, and is closed once, by the last that holds it") {
  const temporary_folder folder;
  regular_file first{folder.write("file", "0123456789")};
  const regular_file file{std::move(first)};
  std::string part(4, ' ');
  CHECK(file.size() == 10);
  CHECK(file.read(part, 3) == 4);
  CHECK(part == "3456");
  CHECK(file.read(part, 8) == 2);
  CHECK(file.read(part, 10) == 0);
}

TEST_CASE("a stream has the whole file, and a read that fails is thrown with the file's name") {
  const temporary_folder folder;
  const std::string text = std::string(200000, 'x') + "\nlast";
  file_stream in{folder.write("file", text)};
  std::string line, last, none;
  CHECK((std::getline(in, line) && std::getline(in, last)));
  CHECK((line.size() == 200000 && last == "last"));
  CHECK_FALSE(std::getline(in, none));
  file_stream unreadable{"/proc/self/mem"};
  CHECK_THROWS_WITH(std::getline(unreadable, none), StartsWith("/proc/self/mem: cannot be read: "));
}

TEST_CASE("a file that may not be read is refused with the option that names it") {
  const temporary_folder folder;
  const fs::path file = folder.write("file", "text");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(file, fs::perms::none);
  const ordinary_user somebody;
  const fault why = fault_of([&] { regular_file(file, "--prompt-file"); });
  CHECK(why.text == "--prompt-file " + file.string() + ": Permission denied");
  CHECK(why.code == fault_code::bad_input);
}
