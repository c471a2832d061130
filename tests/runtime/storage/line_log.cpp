#include "runtime/storage/line_log.hpp"

#include "runtime/base/log.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace hydra;
using hydra::test::temporary_folder;

namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

std::shared_ptr<spdlog::logger> silent() {
  auto log = make_logger(verbosity::quiet);
  log->set_level(spdlog::level::off);
  return log;
}

}  // namespace

TEST_CASE("lines are in the file in order when the log is closed, after those of an earlier log") {
  const temporary_folder folder;
  const auto file = folder.path() / "lines";
  for (const char* first : {"one", "three"}) {
    line_log log{file, silent()};
    log.append(first);
    log.append("next");
    CHECK(log.close().lines == 0);
  }
  CHECK(content_of(file) == "one\nnext\nthree\nnext\n");
}

TEST_CASE("a line is in the file while the log is open") {
  const temporary_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  line_log log{pipe, silent()};
  log.append("a line");
  pollfd arrived{.fd = reader, .events = POLLIN, .revents = 0};
  CHECK(::poll(&arrived, 1, 10000) == 1);
  std::string bytes(10, ' ');
  const auto n = ::read(reader, bytes.data(), bytes.size());
  ::close(reader);
  CHECK(bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0))) == "a line\n");
}

TEST_CASE("a log without lines creates no file") {
  const temporary_folder folder;
  CHECK(line_log{folder.path() / "lines", silent()}.close().lines == 0);
  CHECK(folder.files() == 0);
}

TEST_CASE("a full disk costs lines, which are counted with the reason, and nothing else") {
  line_log log{"/dev/full", silent(), {.pause = std::chrono::milliseconds{0}}};
  for (int i = 0; i < 10; ++i) log.append("a line");
  const auto lost = log.close();
  CHECK(lost.lines == 10);
  CHECK(lost.why.code == fault_code::io);
  CHECK_THAT(lost.why.text, Catch::Contains("/dev/full") && Catch::Contains("No space left"));
}

TEST_CASE("a file that cannot be opened costs its lines") {
  const temporary_folder folder;
  line_log log{folder.path() / "none" / "lines", silent()};
  log.append("a line");
  CHECK(log.close().lines == 1);
}

TEST_CASE("no caller waits for a disk that hangs: what does not fit is lost and counted, the rest is written") {
  const temporary_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // opening it waits for a reader
  line_log log{pipe, silent(), {.most_waiting = 100}};
  const std::string line(29, 'x');
  for (int i = 0; i < 100; ++i) log.append(line);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  const auto lost = log.close();
  std::string bytes(10000, ' ');
  const auto n = ::read(reader, bytes.data(), bytes.size());
  ::close(reader);
  CHECK_FALSE(lost.why);
  CHECK(lost.lines >= 90);
  CHECK(n == static_cast<ssize_t>((100 - lost.lines) * (line.size() + 1)));
}
