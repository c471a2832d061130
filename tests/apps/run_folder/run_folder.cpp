#include "apps/run_folder/run_folder.hpp"

#include "tests/apps/temporary_folder.hpp"
#include "tests/support/ordinary_user.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <iterator>
#include <memory>

namespace hydra::apps {

using Catch::StartsWith;

namespace {

namespace fs = std::filesystem;

using folder_action = void (*)(const place&, const fs::path&);

std::string refusal(const fs::path& output, folder_action action = check_output) {
  try {
    action({std::make_shared<std::string>("--output"), 0}, output);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().code == fault_code::bad_input ? e.what_happened().text : "wrong code";
  }
}

}  // namespace

TEST_CASE("an output that exists or cannot be made is refused, and nothing is made or changed") {
  const temporary_folder folder;
  folder.write("file", "precious");
  fs::create_directory(folder.path() / "mine");
  fs::create_symlink("nowhere", folder.path() / "dangling");
  for (const char* output : {"mine", "file", "dangling", "file/below"})
    CHECK_THAT(refusal(folder.path() / output), StartsWith("--output: run.output: "));
  CHECK_THAT(refusal(folder.path() / std::string(300, 'a')), Catch::EndsWith("File name too long"));
  CHECK(refusal(folder.path() / "new/below") == "");
  CHECK(folder.read("file") == "precious");
  CHECK(std::distance(fs::directory_iterator{folder.path()}, {}) == 3);
}

TEST_CASE("an output below ~ is refused: nobody expands it in a file, and a shell not everywhere") {
  CHECK_THAT(refusal(fs::path("~/runs/a")),
             StartsWith("--output: run.output: \"~/runs/a\"; \"~\" is not expanded here: write "));
  CHECK(refusal(fs::path("~a")) == "");
}

TEST_CASE("of two runs that both found no folder, one makes it, the other is refused and changes nothing") {
  const temporary_folder folder;
  for (const char* output : {"run", "new/below", "with a slash/"}) {
    const fs::path run = folder.path() / output;
    REQUIRE(refusal(run) == "");
    CHECK(refusal(run, make_run_folder) == "");
    record_workload(run, "precious");
    CHECK_THAT(refusal(run, make_run_folder), StartsWith("--output: run.output: ") && Catch::Contains("exists"));
    CHECK(folder.read(run / workload_file) == "precious");
  }
}

TEST_CASE("an output in a folder that may not be written to is refused") {
  const temporary_folder folder;
  fs::permissions(folder.path(),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const test::ordinary_user somebody;
  CHECK_THAT(refusal(folder.path() / "new"),
             StartsWith("--output: run.output: ") &&
                 (Catch::EndsWith("is not writable") || Catch::EndsWith("Permission denied")));
}

}  // namespace hydra::apps
