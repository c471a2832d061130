#include "runtime/storage/leftovers.hpp"

#include "runtime/storage/durable_folder.hpp"
#include "tests/support/stored_folder.hpp"
#include "tests/support/temporary_folder.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace leftovers_test {

file_system& files = posix_file_system();

/// A process that is killed after it has written and before it commits.
pid_t killed_while_writing(const std::filesystem::path& place) {
  const pid_t child = ::fork();
  if (child == 0) {
    durable_folder folder{files, place};
    folder.write("file", [](byte_sink&) {});
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_CASE("a process killed before commit leaves nothing under the final name, and a leftover that can be removed") {
  const temporary_folder parent;
  store_folder(files, parent.path() / "step-1");
  const auto place = parent.path() / "step-2";
  const auto leftover = temporary_path(place, killed_while_writing(place));
  CHECK_FALSE(std::filesystem::exists(place));
  CHECK(std::filesystem::exists(leftover / "file"));
  CHECK(remove_leftovers(files, parent.path()) == 1);
  CHECK(parent.files() == 1);
}

TEST_CASE("files of a running process are not leftovers, files of this process's own id are") {
  const temporary_folder parent;
  const auto place = parent.path() / "step";
  files.make_folder(temporary_path(place, getppid()));
  files.make_folder(temporary_path(place, getpid()));
  CHECK(remove_leftovers(files, parent.path()) == 1);
  CHECK(std::filesystem::exists(temporary_path(place, getppid())));
}

TEST_CASE("only files and folders with a temporary name are leftovers") {
  const temporary_folder parent;
  for (const char* name : {"step", ".hidden", ".step.tmp", ".step.12x.tmp", ".step.-5.tmp", ".step.0.tmp", "a.9.tmp"})
    files.make_folder(parent.path() / name);
  overwrite(temporary_path(parent.path() / "file", getpid()), "no folder");  // of write_atomically()
  std::filesystem::create_directory_symlink(parent.path() / "step", temporary_path(parent.path() / "link", getpid()));
  CHECK(remove_leftovers(files, parent.path()) == 1);
  CHECK(parent.files() == 8);
}

TEST_CASE("a folder that does not exist has no leftovers") { CHECK(remove_leftovers(files, "no/such/folder") == 0); }

}  // namespace leftovers_test
