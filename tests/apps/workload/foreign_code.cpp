#include "apps/workload/foreign_code.hpp"

#include "apps/workload/parse.hpp"
#include "apps/workload/to_toml.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace hydra::apps {

using Catch::Contains;

namespace {

constexpr const char* two_plugins = R"([run]
plugins = ["/theirs/liblayers.so"]
policy = "/theirs/libpolicy.so:shortest"
)";

}  // namespace

TEST_CASE("a node puts its own plug-ins in place of each that the workload names") {
  value_table root = parse_toml(two_plugins, "w.toml");
  use_own_plugins(root, {"/own/libpolicy.so", "/own/liblayers.so"});
  CHECK_THAT(to_toml(root),
             Contains("/own/libpolicy.so:shortest") && Contains("/own/liblayers.so") && !Contains("theirs"));
}

TEST_CASE("a node that lacks one of the plug-ins that the workload names refuses it by its name") {
  for (const std::string there : {"liblayers.so", "libpolicy.so"}) {
    value_table root = parse_toml(two_plugins, "w.toml");
    const std::string missing = there == "liblayers.so" ? "libpolicy.so" : "liblayers.so";
    CHECK_THROWS_WITH(use_own_plugins(root, {"/own/" + there}),
                      Contains("needs \"/theirs/" + missing + "\", and") && Contains("--plugin FILE"));
  }
}

}  // namespace hydra::apps
