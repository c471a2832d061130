#include "actors/report/energy_meters.hpp"

#include "runtime/device/cpu/cpu_device.hpp"
#include "tests/support/outfitted_device.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <optional>

using namespace hydra;
using namespace hydra::literals;
using hydra::test::outfitted_device;

TEST_CASE("a meter counts from the begin of the run, and keeps what it has counted when its device is lost") {
  std::optional<energy_reading> now = energy_reading{1000, "nvml"};
  const outfitted_device metered{make_cpu_device("gpu:0", {.memory = 1_MiB}), {.energy = [&now] { return now; }}};
  const auto plain = make_cpu_device("cpu:0", {.memory = 1_MiB});
  energy_meters meters({&metered, plain.get()}, nullptr);
  now->joules = 1250;
  meters.read();
  now.reset();
  meters.read();
  REQUIRE(meters.of_device(0));
  CHECK(meters.of_device(0)->joules == 250);
  CHECK_FALSE(meters.of_device(1));
  CHECK_FALSE(meters.of_host());
}
