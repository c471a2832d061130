#define CATCH_CONFIG_EXTERNAL_INTERFACES  // for the listener
#include "tests/apps/commands/forked_program.hpp"

#include "apps/commands/program.hpp"
#include "tests/support/scarce_threads.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace hydra::apps {

namespace {

constexpr std::size_t longest = 1 << 17;  // of a request

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Strings, each ended by a zero: working directory, files of the two streams, number of threads, arguments behind a
/// letter, an empty one, environment.
std::string packed(const program_call& call) {
  std::string all;
  const auto add = [&](const std::string& s) { all.append(s).push_back('\0'); };
  add(call.folder);
  add(call.out);
  add(call.err);
  add(std::to_string(call.threads));
  for (const auto& a : call.arguments) add("a" + a);  // so that none is empty
  add("");
  for (char** e = environ; *e != nullptr; ++e) add(*e);
  require(all.size() <= longest, "the arguments and the environment are too long");
  return all;
}

void open_as(int stream, const char* file) {
  const int f = ::open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (f < 0 || ::dup2(f, stream) < 0) ::_exit(126);
  ::close(f);
}

/// In the process of the command. `request` outlives it.
[[noreturn]] void run_command(std::string& request) noexcept {
  std::vector<char*> strings;
  for (std::size_t i = 0; i < request.size(); i += std::strlen(&request[i]) + 1) strings.push_back(&request[i]);
  if (::chdir(strings[0]) != 0) ::_exit(126);
  open_as(STDOUT_FILENO, strings[1]);
  open_as(STDERR_FILENO, strings[2]);
  static char name[] = "hydra";
  std::vector<char*> arguments{name};
  const test::scarce_threads limit{std::atoi(strings[3])};
  auto s = strings.begin() + 4;
  for (; **s != '\0'; ++s) arguments.push_back(*s + 1);
  ::clearenv();
  for (++s; s != strings.end(); ++s) ::putenv(*s);
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  end_at_once(run_program(count, arguments.data()));
}

/// Waits for the command in a process of its own, as others go on at the same time.
[[noreturn]] void run_and_report(std::string& request, int report) {
  ::signal(SIGCHLD, SIG_DFL);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(report);
    run_command(request);
  }
  int end = 0;
  if (child < 0 || ::waitpid(child, &end, 0) != child) ::_exit(1);
  const int status = WIFEXITED(end) ? WEXITSTATUS(end) : 1000 + WTERMSIG(end);
  ::_exit(::write(report, &status, sizeof status) == sizeof status ? 0 : 1);
}

union passed_descriptor {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

msghdr message_of(iovec& text, passed_descriptor& passed) {
  msghdr m{};
  m.msg_iov = &text;
  m.msg_iovlen = 1;
  m.msg_control = passed.bytes.data();
  m.msg_controllen = passed.bytes.size();
  return m;
}

/// Until the other end of the socket is closed.
[[noreturn]] void serve(int socket) noexcept {
  ::signal(SIGCHLD, SIG_IGN);
  std::string request;
  for (;;) {
    request.resize(longest);
    iovec text{request.data(), request.size()};
    passed_descriptor passed{};
    auto m = message_of(text, passed);
    const auto n = ::recvmsg(socket, &m, 0);
    if (n <= 0) ::_exit(0);
    request.resize(static_cast<std::size_t>(n));
    if (CMSG_FIRSTHDR(&m) == nullptr) ::_exit(1);
    int report = -1;
    std::memcpy(&report, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof report);
    if (::fork() == 0) {
      ::close(socket);
      run_and_report(request, report);
    }
    ::close(report);
  }
}

int server = -1;

/// Forks the server before the first test, while this process has one thread.
struct server_start : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "no socket");
    std::cout.flush();
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      serve(ends[1]);
    }
    require(child > 0, "no process for the commands");
    ::close(ends[1]);
    server = ends[0];
  }
};

CATCH_REGISTER_LISTENER(server_start)

}  // namespace

int run_forked(const program_call& call) {
  std::string request = packed(call);
  std::array<int, 2> report{};
  require(::pipe2(report.data(), O_CLOEXEC) == 0, "no pipe");
  iovec text{request.data(), request.size()};
  passed_descriptor passed{};
  auto m = message_of(text, passed);
  auto* const header = CMSG_FIRSTHDR(&m);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &report[1], sizeof(int));
  const bool sent = ::sendmsg(server, &m, MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
  ::close(report[1]);
  int status = -1;
  const bool got = sent && ::read(report[0], &status, sizeof status) == sizeof status;
  ::close(report[0]);
  require(got, "the process that runs commands has ended");
  return status;
}

}  // namespace hydra::apps
