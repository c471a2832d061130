#include "runtime/storage/verify_folder.hpp"

#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

/// A committed folder with three files and SHA256SUMS.

namespace verify_folder_test {

struct stored {
  temporary_folder parent;
  std::filesystem::path folder = parent.path() / "step-00000120";

  stored() { store_folder(posix_file_system(), folder); }
  std::string refusal() const {
    return refusal_of([&] { verify_folder(folder); });
  }
};

constexpr const char* files[]{"parameters", "state", "notes", "SHA256SUMS"};

TEST_CASE("a committed folder verifies, and sha256sum agrees") {
  const stored s;
  CHECK(s.refusal().empty());
  CHECK(std::system(("cd '" + s.folder.string() + "' && sha256sum --strict --quiet -c SHA256SUMS").c_str()) == 0);
}

TEST_CASE("where others may add files, only the listed ones are read") {
  const stored s;
  const auto listed = [&] { return refusal_of([&] { verify_listed(s.folder); }); };
  overwrite(s.folder / "more", "added");
  CHECK(listed().empty());
  CHECK_THAT(s.refusal(), Contains("more is not in SHA256SUMS"));
  const std::string text = text_of(s.folder / "notes");
  overwrite(s.folder / "notes", text + "!");
  CHECK_THAT(listed(), Contains(s.folder.string() + " is damaged: notes has the SHA-256"));
  std::filesystem::remove(s.folder / "notes");
  CHECK_THAT(listed(), Contains("notes is missing"));
}

TEST_CASE("the first changed file among those that are asked for is named, and no other is read") {
  const stored s;
  const auto small = [](const std::string& file) { return file != "parameters"; };
  overwrite(s.folder / "parameters", "changed");
  CHECK(changed_file(s.folder, small) == std::nullopt);
  overwrite(s.folder / "state", "changed");
  CHECK(changed_file(s.folder, small) == "state");
  std::filesystem::remove(s.folder / "state");
  CHECK_THAT(refusal_of([&] { changed_file(s.folder, small); }), Contains("state is missing"));
}

TEST_CASE("one other bit in any byte of any file is found, and the folder is named") {
  const stored s;
  const int bit = GENERATE(0, 5, 7);
  for (const char* file : files) {
    const std::string text = text_of(s.folder / file);
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      overwrite(s.folder / file, other);
      CAPTURE(file, i);
      CHECK_THAT(s.refusal(), Contains(s.folder.string()));
    }
    overwrite(s.folder / file, text);
  }
  CHECK(s.refusal().empty());
}

TEST_CASE("a file that lost its end is found, wherever it was cut") {
  const stored s;
  for (const char* file : files) {
    const std::string text = text_of(s.folder / file);
    for (std::size_t size = 0; size < text.size(); ++size) {
      std::filesystem::resize_file(s.folder / file, size);
      CAPTURE(file, size);
      CHECK_FALSE(s.refusal().empty());
      overwrite(s.folder / file, text);
    }
  }
}

TEST_CASE("a missing file, or a folder in its place, is named") {
  const stored s;
  const std::string file = GENERATE("parameters", "state", "notes", "SHA256SUMS");
  std::filesystem::remove(s.folder / file);
  CHECK_THAT(s.refusal(), Contains(s.folder.string()) && Contains(file + " is missing"));
  std::filesystem::create_directory(s.folder / file);
  CHECK_THAT(s.refusal(), Contains(file + " is not a file"));
}

TEST_CASE("a file that is not listed is named") {
  const stored s;
  overwrite(s.folder / "stranger", "");
  CHECK_THAT(s.refusal(), Contains("stranger is not in SHA256SUMS"));
}

TEST_CASE("a file that is listed twice is named") {
  const stored s;
  const std::string list = text_of(s.folder / "SHA256SUMS");
  overwrite(s.folder / "SHA256SUMS", list + list);
  CHECK_THAT(s.refusal(), Contains("parameters is listed twice"));
}

TEST_CASE("a file with other content is named with both checksums") {
  const stored s;
  overwrite(s.folder / "notes", "x");
  CHECK_THAT(s.refusal(),
             Contains("notes has the SHA-256 2d711642b726b044") && Contains("instead of e3b0c44298fc1c14"));
}

TEST_CASE("a folder that does not exist does not verify") {
  CHECK_THAT(refusal_of([] { verify_folder("no/such/folder"); }), Contains("no/such/folder"));
}

TEST_CASE("a file that cannot be read is an I/O fault, not a damaged folder") {
  const stored s;
  std::filesystem::remove(s.folder / "notes");
  std::filesystem::create_symlink("/proc/self/mem", s.folder / "notes");  // nothing can be read from it at offset 0
  try {
    verify_folder(s.folder);
    FAIL("it was read");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::io);
    CHECK_THAT(e.what(), !Contains("damaged"));
  }
}

}  // namespace verify_folder_test
