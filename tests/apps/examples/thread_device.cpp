#include "apps/examples/thread_device.hpp"

#include "tests/support/device_conformance.hpp"

#include <catch2/catch.hpp>

TEST_CASE("the example of a device conforms to the device interface") {
  hydra::test::conforms([](hydra::byte_count budget) { return std::make_unique<thread_device>("thread:0", budget); });
}
