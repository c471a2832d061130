#include "runtime/device/cpu/queue_threads.hpp"

#include "apps/examples/thread_device.hpp"
#include "runtime/device/cpu/cpu_device.hpp"
#include "runtime/device/streams/stream_device.hpp"
#include "tests/support/host_streams.hpp"
#include "tests/support/scarce_threads.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

using maker = std::function<std::unique_ptr<device>()>;

/// For a device that needs more threads than are left.
void check_refused(int left, const maker& make) {
  INFO(left << " threads are left");
  const scarce_threads few{left};
  try {
    make();
    FAIL("it was made");
  } catch (const fault_error& e) {
    REQUIRE(e.what_happened().code == fault_code::bad_input);
    REQUIRE_THAT(e.what_happened().text,
                 Catch::StartsWith("d:0: no thread could be started") && Catch::Contains("use fewer devices"));
  }
}

device_info info() {
  device_info of;
  of.name = "d:0";
  of.memory = 1_MiB;
  return of;
}

}  // namespace

TEST_CASE("a device that cannot start all of its threads ends those that were started, and is refused") {
  for (int left = 0; left < 3; ++left) {
    check_refused(left, [] { return make_cpu_device("d:0", {.memory = 1_MiB}); });
    check_refused(left, [] { return std::make_unique<thread_device>("d:0", 1_MiB); });
  }
  for (int left = 0; left < 4; ++left) {
    auto driver = make_host_streams();  // it has threads of its own
    check_refused(left, [&] { return make_stream_device(info(), std::move(driver), make_charged_memory(1_MiB)); });
  }
}

TEST_CASE("a device that can start just as many threads as it needs is made") {
  const scarce_threads enough{3};
  REQUIRE(make_cpu_device("d:0", {.memory = 1_MiB})->info().name == "d:0");
}
