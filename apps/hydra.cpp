// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace {

/// Without this, the first file that is opened would get the descriptor of a closed standard stream, and output would
/// go into it.
void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  hydra::apps::end_at_once(hydra::apps::run_program(argc, argv));
}
