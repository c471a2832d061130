#pragma once
// What every implementation of hydra::device must do: one section per item of the checklist in
// runtime/device/device.hpp.

#include "runtime/device/device.hpp"

#include <functional>
#include <memory>

namespace hydra::test {

/// Creates a device with this budget and no receiver of completions. Its copies should take no emulated time.
using device_factory = std::function<std::unique_ptr<device>(byte_count budget)>;

struct device_traits {
  bool concurrent_queues = true;  ///< false for a test double that runs one operation at a time
};

/// Called from a TEST_CASE: opens Catch2 sections. The author of a device writes
///   TEST_CASE("my device conforms") { hydra::test::conforms(make_mine); }
void conforms(const device_factory& make, device_traits traits = {});

}  // namespace hydra::test
