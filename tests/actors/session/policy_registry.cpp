#include "actors/session/policy_registry.hpp"

#include "actors/plugin/named_item.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using Catch::Contains;
using hydra::test::test_plugin;

namespace {

std::string in_file(const std::string& name, const std::string& policy = "") {
  return test_plugin(name).string() + (policy.empty() ? "" : ":" + policy);
}

std::optional<std::size_t> choice_of_three(const policy_entry& entry, std::map<std::string, double> values = {}) {
  const std::vector<device_state> devices(1);
  const std::vector<candidate> candidates(3);
  const auto made = entry.make(complete({0, std::move(values)}, entry.options, entry.name));
  return made->choose(devices[0], candidates, {.now = {}, .devices = devices, .models = {}});
}

}  // namespace

TEST_CASE("built-in policies and those of plug-ins are found by name", "[plugin]") {
  policy_registry registry;
  CHECK(registry.find("fifo").plugin.empty());
  CHECK_THROWS_WITH(registry.find("last-candidate"), Contains("no policy \"last-candidate\""));
  registry.load(test_plugin("two_policies"));
  registry.load(test_plugin("two_policies"));
  CHECK(registry.all().size() == built_in_policies().size() + 2);
  CHECK(registry.find("last-candidate").plugin == std::filesystem::canonical(test_plugin("two_policies")));
}

TEST_CASE("a path finds the only policy of a plug-in, a path and a name one of several", "[plugin]") {
  policy_registry registry;
  CHECK(registry.find(in_file("shortest_first")).entry.name == "shortest-first");
  CHECK(registry.find(in_file("two_policies", "last-candidate")).entry.name == "last-candidate");
  CHECK_THROWS_WITH(
      registry.find(in_file("two_policies")),
      Contains("several policies (first-candidate, last-candidate)") && Contains(".so:first-candidate\""));
  CHECK_THROWS_WITH(registry.find(in_file("two_policies", "lost-candidate")),
                    Contains("did you mean \"last-candidate\"?"));
}

TEST_CASE("a plug-in's policy is made with its options and decides", "[plugin]") {
  policy_registry registry;
  registry.load(test_plugin("two_policies"));
  CHECK(choice_of_three(registry.find("first-candidate").entry) == 0);
  CHECK(choice_of_three(registry.find("last-candidate").entry) == 2);
  CHECK(choice_of_three(registry.find("last-candidate").entry, {{"from_end", 2}}) == 1);
  CHECK_THROWS_WITH(choice_of_three(registry.find("last-candidate").entry, {{"from_end", 10}}),
                    Contains("at least 1 and at most 9, got 10"));
  CHECK_THROWS_WITH(choice_of_three(registry.find("first-candidate").entry, {{"from_end", 1}}),
                    Contains("there is none"));
}

TEST_CASE("a plug-in without a use, and a name that is taken, are refused and leave nothing behind", "[plugin]") {
  policy_registry registry;
  CHECK_THROWS_WITH(registry.load(test_plugin("only_a_layer")),
                    Contains("layer \"gated\"") && Contains("it takes: policy, policy actor, device, search rule"));
  registry.load(test_plugin("same_name"));
  CHECK_THROWS_WITH(registry.load(test_plugin("two_policies")),
                    Contains("first-candidate") && Contains("same_name.so"));
  CHECK(registry.all().size() == built_in_policies().size() + 1);
  CHECK(registry.plugins().size() == 1);
}

TEST_CASE("a plug-in that offers devices and no policy is accepted, and names no policy", "[plugin]") {
  policy_registry registry;
  CHECK_NOTHROW(registry.load(test_plugin("thread_device")));
  CHECK(registry.all().size() == built_in_policies().size());
  CHECK_THROWS_WITH(registry.find(in_file("thread_device")), Contains("it offers no policy, but device \"thread\""));
}

TEST_CASE("only what looks like a path names a plug-in", "[plugin]") {
  CHECK(names_plugin("libx.so"));
  CHECK(names_plugin("libx.so:mine"));
  CHECK(names_plugin("there/x"));
  CHECK_FALSE(names_plugin("sharded-lrtf"));
}
