// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

/// Blocks of megabytes come and go with every visit. Left to itself, malloc gives each back to the kernel, which then
/// clears pages for the next one: 7 % of the quickstart's makespan. (32 MiB is the largest value it takes.)
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

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
  keep_freed_memory();
  end_at_once(hydra::apps::run_program(argc, argv));
}
