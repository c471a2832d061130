#include "runtime/device/cpu/queue_threads.hpp"

#include "apps/examples/thread_device.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/streams/stream_device.hpp"
#include "tests/support/completion_log.hpp"
#include "tests/support/host_streams.hpp"
#include "tests/support/scarce_threads.hpp"

#include <ATen/ops/full.h>
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

using maker = std::function<std::unique_ptr<device>()>;

/// For a device that needs more threads than are left. `why`: how the message begins.
void check_refused(int left, const maker& make, const std::string& why) {
  INFO(left << " threads are left");
  const scarce_threads few{left};
  try {
    make();
    FAIL("it was made");
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::bad_input);
    REQUIRE_THAT(e.what_happened().text, Catch::StartsWith(why) && Catch::Contains("use fewer devices"));
  }
}

const std::string not_started = "d:0: no thread could be started";

device_info info() {
  device_info of;
  of.name = "d:0";
  of.memory = 1_MiB;
  return of;
}

}  // namespace

TEST_CASE(
    "a device for which there are too few threads is refused with the number that it needs, before it makes one") {
  for (int left = 0; left < 3; ++left)
    check_refused(
        left, [] { return make_cpu_device("d:0", {.memory = 1_MiB}); }, "d:0 (threads = 1) needs 3 threads beside");
  for (int left = 0; left < 5; ++left)
    check_refused(left, [] { return make_cpu_device("d:0", {.memory = 1_MiB, .threads = 3}); },
                  "d:0 (threads = 3) needs 5 threads beside");
  for (int left = 0; left < 4; ++left) {
    auto driver = make_host_streams();  // it has threads of its own
    check_refused(left, [&] { return make_stream_device(info(), std::move(driver), make_charged_memory(1_MiB)); },
                  "d:0 needs 4 threads beside");
  }
}

TEST_CASE("a device that cannot start all of its threads ends those that were started, and is refused") {
  for (int left = 0; left < 3; ++left) {
    check_refused(3 + left, [] { return make_cpu_device("d:0", {.memory = 1_MiB}); }, not_started);
    check_refused(left, [] { return std::make_unique<thread_device>("d:0", 1_MiB); }, not_started);
  }
  for (int left = 0; left < 4; ++left) {
    auto driver = make_host_streams();
    check_refused(4 + left, [&] { return make_stream_device(info(), std::move(driver), make_charged_memory(1_MiB)); },
                  not_started);
  }
}

TEST_CASE("a device that can start just as many threads as it needs, after it has tried to, is made") {
  const scarce_threads enough{3 + 3};
  REQUIRE(make_cpu_device("d:0", {.memory = 1_MiB})->info().name == "d:0");
}

TEST_CASE("a device that computes with several threads has them when it is made") {
  completion_log log;
  const auto several = make_cpu_device("d:0", {.memory = 4_MiB, .threads = 3});
  several->on_completion(log.sink());
  const no_more_threads none;  // LibTorch would end the process
  operation op;
  op.work = [] { at::full({1 << 20}, 1, at::kByte); };
  const auto large = several->submit(queue_kind::compute, std::move(op), {});
  CHECK_FALSE(log.wait_for(large).error);
}
