#include "actors/policy/catalog.hpp"
#include "actors/policy/one_at_a_time.hpp"
#include "actors/session/policy_registry.hpp"
#include "tests/support/depth.hpp"
#include "tests/conformance/policy.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <chrono>

using namespace hydra;
using hydra::test::conforms;

TEST_CASE("every built-in policy conforms", "[conformance]") {
  const auto& all = built_in_policies();
  for (const auto& entry : hydra::test::sampled(std::vector(all.begin(), all.end()), 6)) {
    INFO(entry.name);
    conforms([&] { return make_policy(entry.name, 7); });
  }
}

TEST_CASE("a policy without SHARP conforms", "[conformance]") {
  conforms([] { return std::make_unique<one_at_a_time>(make_policy("fifo", 7)); });
}

TEST_CASE("the example of a plug-in conforms", "[conformance]") {
  using namespace std::chrono_literals;
  policy_registry registry{{.decision = 60s}};  // a machine may be busy
  const auto& entry = registry.find(test::test_plugin("shortest_first").string()).entry;
  conforms([&] { return entry.make(complete({}, entry.options, entry.name)); });
}
