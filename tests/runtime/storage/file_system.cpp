#include "runtime/storage/file_system.hpp"

#include "tests/support/faulty_file_system.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <span>
#include <string_view>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace file_system_test {

file_system& files = posix_file_system();

/// Checks that `step` fails with "<operation> <path>: ...<reason>...".
void check_refused(const std::function<void()>& step, const std::string& operation_and_path, const char* reason) {
  CHECK_THAT(refusal_of(step), StartsWith(operation_and_path + ": ") && Contains(reason));
}

TEST_CASE("a file is written piece by piece") {
  const temporary_folder folder;
  const auto path = folder.path() / "file";
  const auto file = files.create(path);
  for (std::string_view text : {"one", "", "two"}) CHECK(file->write(std::as_bytes(std::span{text})) == text.size());
  file->sync();
  file->close();
  CHECK(text_of(path) == "onetwo");
}

TEST_CASE("a failed operation is reported with its name, path and reason") {
  const temporary_folder folder;
  const std::string here = folder.path().string(), nowhere = here + "/no/file";
  check_refused([&] { files.create(here); }, "create " + here, "File exists");
  check_refused([&] { files.create(nowhere); }, "create " + nowhere, "No such file");
  check_refused([&] { files.make_folder(here); }, "make folder " + here, "File exists");
  check_refused([&] { files.rename(nowhere, here); }, "rename to " + here, "No such file");
  check_refused([&] { files.sync_folder(nowhere); }, "open folder " + nowhere, "No such file");
}

TEST_CASE("missing folders are created from the top, each durable before the next") {
  const temporary_folder root;
  faulty_file_system noted;
  make_folders(noted, root.path() / "runs" / "mine" / "");
  CHECK(std::filesystem::is_directory(root.path() / "runs" / "mine"));
  CHECK(noted.transcript() == std::vector<std::string>{"make folder runs",
                                                       "sync folder " + root.path().filename().string(),
                                                       "make folder mine", "sync folder runs"});
  faulty_file_system idle;
  make_folders(idle, root.path() / "runs" / "mine");
  CHECK(idle.transcript().empty());
}

TEST_CASE("a file where a folder is needed is named") {
  const temporary_folder root;
  overwrite(root.path() / "runs", "text");
  check_refused([&] { make_folders(files, root.path() / "runs" / "mine"); },
                "make folder " + (root.path() / "runs").string(), "File exists");
}

}  // namespace file_system_test
