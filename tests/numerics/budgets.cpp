#include "runtime/fault.hpp"
#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using namespace hydra::test;

namespace {

std::vector<exact_case> two_models() {
  auto a = tiny_gpt(0.1, true);
  a.cuts = {0, 2, 4};
  a.micro_batches = 2;
  a.steps = 6;
  auto b = tiny_gpt(0.0, false);
  b.cuts = {0, 1, 2, 3, 4};
  b.optimizer.clip_norm = 0.5;
  b.steps = 6;
  return {a, b};
}

/// The number of bytes that a refusal names in "(N bytes)".
byte_count named_bytes(const std::string& text) {
  const auto at = text.find('(', text.find("sufficient"));
  return byte_count{std::stoull(text.substr(at + 1))};
}

fault refusal(const run_options& options) {
  try {
    train_spilled(two_models(), options);
  } catch (const fault_error& e) {
    return e.what_happened();
  }
  return {};
}

}  // namespace

TEST_CASE("the smallest sufficient device memory is enough to the byte, and its peak stays within", "[budgets]") {
  const auto why = refusal({.devices = {{.memory = 1_KiB}}});
  REQUIRE(why.code == fault_code::does_not_fit);
  const cpu_device least{.memory = named_bytes(why.text)};
  for (std::size_t devices = 1; devices <= 3; ++devices) {
    const auto spilled = train_spilled(two_models(), {.devices = std::vector<cpu_device>(devices, least)});
    REQUIRE(spilled.summary.all_finished());
    for (const auto& d : spilled.summary.devices) {
      REQUIRE(d.peak <= d.budget);
    }
    REQUIRE(spilled.summary.devices.front().peak > 0_B);  // the counter does count
  }
  const cpu_device less{.memory = least.memory - 1_B};
  REQUIRE(refusal({.devices = {less}}).code == fault_code::does_not_fit);
}

/// Where memory is scarce, evaluations go in shorter visits: less than what a plan asks for at ease may be enough.
byte_count least_host_memory(const std::vector<cpu_device>& devices) {
  auto needed = planned_host_memory(two_models(), {.devices = devices});
  for (;;) {
    try {
      needed = planned_host_memory(two_models(), {.devices = devices, .host_memory = needed - 1_B});
    } catch (const fault_error&) {
      return needed;
    }
  }
}

TEST_CASE("the host memory that the plan asks for is enough to the byte, and its peak stays within", "[budgets]") {
  const std::vector<cpu_device> devices(2, {.memory = 1_MiB});
  const auto needed = least_host_memory(devices);
  for (int i = 0; i < 10; ++i) {
    const auto spilled = train_spilled(two_models(), {.devices = devices, .host_memory = needed});
    REQUIRE(spilled.summary.all_finished());
    REQUIRE(spilled.summary.host_peak <= needed);
  }
  REQUIRE(refusal({.devices = devices, .host_memory = needed - 1_B}).code == fault_code::does_not_fit);
}
