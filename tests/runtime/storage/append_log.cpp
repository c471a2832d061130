#include "runtime/storage/append_log.hpp"

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

TEST_CASE("entries are in their file in order when the log is closed, after those of an earlier log") {
  const temporary_folder folder;
  const auto file = folder.path() / "lines";
  for (const char* first : {"one", "three"}) {
    append_log log{silent()};
    log.append(file, first);
    log.append(folder.path() / "other", "else ");
    log.append(file, " next ");
    CHECK(log.close().empty());
  }
  CHECK(content_of(file) == "one next three next ");
  CHECK(content_of(folder.path() / "other") == "else else ");
}

TEST_CASE("an entry is in the file while the log is open") {
  const temporary_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  append_log log{silent()};
  log.append(pipe, "a line\n");
  pollfd arrived{.fd = reader, .events = POLLIN, .revents = 0};
  CHECK(::poll(&arrived, 1, 10000) == 1);
  std::string bytes(10, ' ');
  const auto n = ::read(reader, bytes.data(), bytes.size());
  ::close(reader);
  CHECK(bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0))) == "a line\n");
}

TEST_CASE("a log without entries creates no file") {
  const temporary_folder folder;
  CHECK(append_log{silent()}.close().empty());
  CHECK(folder.files() == 0);
}

TEST_CASE("a full disk costs entries, which are counted with the reason, and nothing else") {
  const temporary_folder folder;
  append_log log{silent(), {.pause = std::chrono::milliseconds{0}}};
  for (int i = 0; i < 10; ++i) log.append("/dev/full", "a line"), log.append(folder.path() / "good", ".");
  const auto all = log.close();
  REQUIRE(all.size() == 1);
  const auto& lost = all.at("/dev/full");
  CHECK(content_of(folder.path() / "good") == "..........");
  CHECK(lost.entries == 10);
  CHECK(lost.why.code == fault_code::io);
  CHECK_THAT(lost.why.text, Catch::Contains("/dev/full") && Catch::Contains("No space left"));
}

TEST_CASE("a file that cannot be opened costs its entries") {
  const temporary_folder folder;
  const auto file = folder.path() / "none" / "lines";
  append_log log{silent()};
  log.append(file, "a line");
  CHECK(log.close().at(file).entries == 1);
}

TEST_CASE("no caller waits for a disk that hangs: what does not fit is lost and counted, the rest is written") {
  const temporary_folder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);  // opening it waits for a reader
  append_log log{silent(), {.most_waiting = 100}};
  const std::string line(30, 'x');
  for (int i = 0; i < 100; ++i) log.append(pipe, line);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  const auto lost = log.close().at(pipe);
  std::string bytes(10000, ' ');
  const auto n = ::read(reader, bytes.data(), bytes.size());
  ::close(reader);
  CHECK_FALSE(lost.why);
  CHECK(lost.entries >= 90);
  CHECK(n == static_cast<ssize_t>((100 - lost.entries) * line.size()));
}
