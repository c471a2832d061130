#include "runtime/device/loop_threads.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/executor.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/support/scarce_threads.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

TEST_CASE("an executor begins no thread: all were made before it") {
  const loop_threads all{1};
  const no_more_threads none;
  completion_log log;
  const auto made = make_executor(1);
  made->on_completion(log.sink());
  CHECK_FALSE(log.wait_for(made->submit([] {}, {})).error);
}

TEST_CASE("parallel loops for which there are too few threads are refused with the number") {
  const scarce_threads two{2};
  CHECK_THROWS_WITH(loop_threads{300},
                    Catch::StartsWith("TBB, for parallel loops on the host, needs 300 threads beside ") &&
                        Catch::Contains("but 2 can be made"));
}
