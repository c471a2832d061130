// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace {

/// Without this, the first file that is opened would get the descriptor of a closed standard stream, and output would
/// go into it.
void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
}

constexpr std::array<std::string_view, 6> computing{"train", "node", "plan", "evaluate", "generate", "bench"};

/// Threads of OpenMP that wait for work spin for milliseconds, and whatever else runs on their cores waits that long:
/// beside another program, runs on two threads of two cores took up to nine times as long. They spin for tens of
/// microseconds here, alone as fast. OpenMP reads the limit before main(), so the program begins once more with it, by
/// its own path: by /proc/self/exe the process would be called "exe".
void limit_spinning(int argc, char** argv) {
  if (argc < 2 || std::ranges::count(computing, argv[1]) == 0) return;
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (::setenv("GOMP_SPINCOUNT", "2000", 1) == 0) ::execv(program.c_str(), argv);  // else the threads spin longer
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  limit_spinning(argc, argv);
  hydra::apps::end_at_once(hydra::apps::run_program(argc, argv));
}
