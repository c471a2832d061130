#include "runtime/storage/appended_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace hydra;
using hydra::test::temporary_folder;

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

/// As long as it exists no file grows beyond so many bytes: a write is short at first and then fails, as on a full
/// disk.
class full_disk {
 public:
  explicit full_disk(rlim_t bytes) : handler_{::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

}  // namespace

TEST_CASE("an entry for which the disk has room in part only is not in the file, and can be appended later") {
  const temporary_folder folder;
  const auto name = folder.write("lines", "first\n");
  appended_file file{name};
  {
    const full_disk room{10};
    CHECK_THROWS_WITH(file.append_durably("second\n"), Catch::Contains("write") && Catch::Contains("lines"));
    CHECK_THROWS_AS(file.append("second\n"), fault_error);
    CHECK(bytes_of(name) == "first\n");
    file.append("2\n");
  }
  file.append_durably("second\n");
  CHECK(bytes_of(name) == "first\n2\nsecond\n");
}

TEST_CASE("a file that cannot be opened is opened again with the next entry") {
  const temporary_folder folder;
  const auto name = folder.path() / "later" / "lines";
  appended_file file{name};
  CHECK_THROWS_WITH(file.append_durably("lost\n"), Catch::Contains("No such file"));
  std::filesystem::create_directory(name.parent_path());
  file.append_durably("kept\n");
  CHECK(bytes_of(name) == "kept\n");
}
