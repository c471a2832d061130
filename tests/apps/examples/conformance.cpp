#include "apps/examples/focal_loss.hpp"
#include "apps/examples/gated_linear.hpp"
#include "apps/examples/shortest_first.hpp"
#include "apps/examples/spirals.hpp"
#include "apps/examples/thread_device.hpp"

#include "tests/conformance/data.hpp"
#include "tests/conformance/device.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/conformance/loss.hpp"
#include "tests/conformance/policy.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

using namespace hydra::test;

TEST_CASE("the example of a layer conforms") { conforms(gated_linear{8, 3}, random_tensor({4, 8}, 1)); }

TEST_CASE("the example of a loss conforms") {
  conforms(focal_loss{2}, random_tensor({6, 3}, 1), random_ids({6}, 3, 2));
}

TEST_CASE("the example of data conforms") { conforms(spirals{}); }

TEST_CASE("the example of a policy conforms") {
  conforms([] { return std::make_unique<shortest_first>(); });
}

TEST_CASE("the example of a device conforms") {
  conforms([](hydra::byte_count budget) { return std::make_unique<thread_device>("thread:0", budget); });
}
