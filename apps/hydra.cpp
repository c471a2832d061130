// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

/// The libraries' own destructors take a tenth of a second, in which a signal would end the program with a status that denies
/// what it has done. (A sanitizer looks for leaks behind them.)
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
  end_at_once(hydra::apps::run_program(argc, argv));
}
