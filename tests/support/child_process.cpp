#include "tests/support/child_process.hpp"

#include "tests/support/gate.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

namespace hydra::test {

namespace {

[[noreturn]] void run_child(const std::function<int()>& body, int err) {
  ::dup2(err, STDERR_FILENO);
  ::alarm(static_cast<unsigned>(patience.count()));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);  // not the test framework's
  const int status = body();
  std::fflush(stderr);
  ::_exit(status);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = ::read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(n));
  return text;
}

}  // namespace

child_end in_child(const std::function<int()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) run_child(body, ends[1]);
  ::close(ends[1]);
  child_end end{.err = read_all(ends[0])};
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return end;
}

}  // namespace hydra::test
