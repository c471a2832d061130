// The `hydra` program: see commands/.

#include "apps/commands/program.hpp"

#include <malloc.h>

namespace {

/// Blocks of megabytes come and go with every visit. Left to itself, malloc gives each back to the kernel, which then
/// clears pages for the next one: 7 % of the quickstart's makespan. (32 MiB is the largest value it takes.)
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return hydra::apps::run_program(argc, argv);
}
