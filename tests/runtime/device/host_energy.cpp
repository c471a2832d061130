#include "runtime/device/host_energy.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using hydra::test::temporary_folder;

namespace host_energy_test {

/// What the kernel has for a zone, which starts again at 1 J.
void write_zone(const temporary_folder& at, const std::string& folder, const std::string& name,
                std::uint64_t microjoules) {
  at.write(folder + "/name", name + "\n");
  at.write(folder + "/energy_uj", std::to_string(microjoules) + "\n");
  at.write(folder + "/max_energy_range_uj", "1000000\n");
}

TEST_CASE("the host's energy is that of its packages and of memory beside them", "[energy]") {
  const temporary_folder powercap;
  write_zone(powercap, "intel-rapl:0", "package-0", 500);
  write_zone(powercap, "intel-rapl:0:0", "core", 0);
  write_zone(powercap, "intel-rapl:0:1", "dram", 0);
  write_zone(powercap, "intel-rapl:1", "psys", 0);
  write_zone(powercap, "intel-rapl-mmio:0", "package-0", 0);
  powercap.write("intel-rapl/enabled", "1\n");
  host_energy meter{powercap.path()};
  for (const auto* folder : {"intel-rapl:0:0", "intel-rapl:1", "intel-rapl-mmio:0"}) {
    write_zone(powercap, folder, "core", 900'000);
  }
  write_zone(powercap, "intel-rapl:0", "package-0", 400'500);
  write_zone(powercap, "intel-rapl:0:1", "dram", 100'000);
  const auto now = meter.read();
  REQUIRE(now);
  CHECK(now->joules == Approx(0.5));
  CHECK(std::string{now->meter} == "rapl");
}

TEST_CASE("a counter that has started again at 0 goes on from its range", "[energy]") {
  const temporary_folder powercap;
  write_zone(powercap, "intel-rapl:0", "package-0", 900'000);
  host_energy meter{powercap.path()};
  write_zone(powercap, "intel-rapl:0", "package-0", 50'000);
  CHECK(meter.read()->joules == Approx(0.15));
  write_zone(powercap, "intel-rapl:0", "package-0", 60'000);
  CHECK(meter.read()->joules == Approx(0.16));
}

TEST_CASE("without a counter, or with one that cannot be read any more, the energy is not known", "[energy]") {
  const temporary_folder powercap;
  CHECK_FALSE(host_energy{powercap.path() / "none"}.read());
  CHECK_FALSE(host_energy{powercap.path()}.read());
  write_zone(powercap, "intel-rapl:0", "package-0", 1);
  write_zone(powercap, "intel-rapl:1", "package-1", 1);
  host_energy meter{powercap.path()};
  CHECK(meter.read());
  std::filesystem::remove(powercap.path() / "intel-rapl:1/energy_uj");
  CHECK_FALSE(meter.read());
}

}  // namespace host_energy_test
