// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

/// Without this, the first file that is opened would get the descriptor of a closed standard stream, and output would
/// go into it.
void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

/// Skips the destructors of libraries: they take a tenth of a second, in which a signal would end the program with a
/// status that reports a failure. (A sanitizer looks for leaks after them.)
[[noreturn]] void end_at_once(int status) {
  std::cout.flush();
  std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
  std::exit(status);
#else
  ::_exit(status);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  end_at_once(hydra::apps::run_program(argc, argv));
}
