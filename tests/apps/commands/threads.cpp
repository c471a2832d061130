// Where the system refuses threads.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <thread>

namespace hydra::apps {

namespace {

using Catch::Contains;

/// True if it has trained; else it must have been refused, or have ended, with a message about threads.
bool trains_with(int threads) {
  INFO(threads << " threads");
  const temporary_folder folder;
  folder.write("w.toml", example);
  const outcome o = run_hydra_with_threads(folder, "train w.toml --quiet", threads);
  if (o.status == 0) return true;
  CHECK((o.status == 1 || o.status == 2));
  CHECK_THAT(o.err, Contains("thread") && Contains("ulimit -u"));
  return false;
}

/// The least number with which it trains, in (`too_few`, `enough`].
int least_threads(int too_few, int enough) {
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    (trains_with(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

TEST_CASE("a run for which there are too few threads ends with a message, whichever of them is the first one missing") {
  const int plenty = 64 + 2 * static_cast<int>(std::thread::hardware_concurrency());
  const int least = least_threads(0, plenty);
  CHECK(least < plenty);
  if (test::is_deep())
    for (int threads = 0; threads < least; ++threads) CHECK_FALSE(trains_with(threads));
}

TEST_CASE("more threads than the system can have are refused with the number, before anything is measured") {
  const temporary_folder folder;
  folder.write("w.toml", bent("memory = \"24MiB\"", "memory = \"24MiB\"\nthreads = 1024"));
  const outcome o = run_hydra_with_threads(folder, "train w.toml --quiet", 500);
  CHECK(o.status == 2);
  CHECK_THAT(o.err,
             Catch::StartsWith("cpu:0 (threads = 1024) needs 1026 threads beside the ") && Contains("ulimit -u"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

}  // namespace hydra::apps
