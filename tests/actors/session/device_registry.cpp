#include "actors/session/device_registry.hpp"

#include "actors/session/session.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/optimizer/update_rule.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::literals;
using Catch::Contains;
using Catch::StartsWith;
using hydra::test::test_plugin;
namespace fs = std::filesystem;

namespace {

device_registry registry_with(const std::string& name) {
  device_registry registry{make_plugin_set(), {}};
  registry.load(test_plugin(name));
  return registry;
}

fault fault_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const fault_error& e) {
    return e.what_happened();
  }
  return {};
}

/// Final parameters of a small model.
std::vector<std::pair<std::string, std::vector<float>>> trained_on(const std::function<void(session&)>& add_devices) {
  session s{{.log = verbosity::quiet}};
  add_devices(s);
  const auto id = s.add_model({.name = "mlp",
                               .chain = mlp({.layers = 3, .width = 16}),
                               .data = {synthetic_classes{}},
                               .batch_size = 8,
                               .steps = 3,
                               .optimizer = sgd({.learning_rate = 0.1})});
  REQUIRE(s.run().all_finished());
  return s.parameters(id);
}

}  // namespace

TEST_CASE("a kind of device that a plug-in offers is found by name and made with its options", "[plugin]") {
  auto registry = registry_with("thread_device");
  const auto known = registry.find("thread");
  CHECK(known.plugin == fs::canonical(test_plugin("thread_device")));
  REQUIRE(known.about.options.size() == 1);
  const auto made = known.make({"thread:7", {{"memory", 3_MiB}}});
  CHECK(made->info().name == "thread:7");
  CHECK(made->info().memory == 3_MiB);
}

TEST_CASE("a kind that no plug-in offers is refused with the nearest name", "[plugin]") {
  auto registry = registry_with("thread_device");
  CHECK_THROWS_WITH(registry.find("thred"),
                    Contains("\"thred\"") && Contains("did you mean \"thread\"? (known: cpu, cuda, thread)"));
  CHECK_THROWS_WITH(registry.find("cpu"), Contains("cpu_device"));
}

TEST_CASE("plug-ins that offer one kind of device twice, or Hydra's own, are refused", "[plugin]") {
  auto registry = registry_with("thread_device");
  CHECK_THROWS_WITH(registry.load(test_plugin("same_device")),
                    Contains("device \"thread\"") && Contains("thread_device.so"));
  CHECK_THROWS_WITH(registry.load(test_plugin("takes_cpu")), Contains("device \"cpu\", as Hydra itself does"));
  CHECK(registry.all().size() == 1);
}

TEST_CASE("Hydra's own plug-in is loaded when its kind is used, and not before", "[plugin]") {
  const test::temporary_folder folder;
  const auto plugins = make_plugin_set();
  device_registry registry{plugins, {folder.path()}};
  CHECK(fault_of([&] { registry.find("cuda"); }).code == fault_code::bad_input);
  fs::create_symlink(test_plugin("fake_cuda"), folder.path() / "libhydra_cuda.so");
  CHECK_THROWS(registry.find("thread"));
  CHECK(plugins->all().empty());
  CHECK(registry.find("cuda").plugin == fs::canonical(test_plugin("fake_cuda")));
  CHECK(plugins->all().size() == 1);
}

TEST_CASE("an own plug-in that does not offer its kind is refused", "[plugin]") {
  const test::temporary_folder folder;
  fs::create_symlink(test_plugin("thread_device"), folder.path() / "libhydra_cuda.so");
  device_registry registry{make_plugin_set(), {folder.path()}};
  CHECK_THROWS_WITH(registry.find("cuda"), Contains("does not offer it"));
}

TEST_CASE("options are checked by name and type, and required ones are missed", "[plugin]") {
  auto registry = registry_with("devices");
  const auto moody = registry.find("moody");
  const auto check = [&](const option_values& given) { entry_of(moody, given, ""); };
  CHECK_NOTHROW(check({{"memory", 1_MiB}, {"mood", "fair"}, {"hot", true}, {"fans", 2}, {"nap", duration{5}}}));
  CHECK_THROWS_WITH(check({{"memori", 1_MiB}}), Contains("\"memori\"; did you mean \"memory\"?"));
  CHECK_THROWS_WITH(check({{"memory", std::string{"1MiB"}}}),
                    Contains("device of kind \"moody\": option memory must be a size, got \"1MiB\""));
  CHECK_THROWS_WITH(check({{"fans", 1.5}}), Contains("option fans must be an integer, got 1.5"));
  CHECK_THROWS_WITH(check({}), Contains("option memory (budget) is missing"));
  CHECK_THROWS_WITH(entry_of(registry.find("crossed"), {{"memory", 1_MiB}}, ""), Contains("there is none"));
}

TEST_CASE("an exception of a plug-in that creates a device is a fault with the device's name", "[plugin]") {
  auto registry = registry_with("devices");
  const auto crossed = fault_of([&] { registry.find("crossed").make({"crossed:0"}); });
  CHECK(crossed.code == fault_code::bad_input);
  CHECK_THAT(crossed.text, Contains("device crossed:0 cannot be made: ") && Contains("the wires are crossed"));
  CHECK_THROWS_WITH(registry.find("absent").make({"absent:1"}),
                    Contains("device absent:1") && Contains("has made none"));
  const auto moody = fault_of([&] { registry.find("moody").make({"moody:0", {{"mood", std::string{"bad"}}}}); });
  CHECK(moody.code == fault_code::does_not_fit);
}

TEST_CASE("a session trains on devices of a plug-in, alone or with virtual ones, with the same bits", "[plugin]") {
  const auto expected = trained_on([](session& s) { s.add_devices(1, cpu_device{.memory = 1_MiB}); });
  CHECK(trained_on([](session& s) {
          s.load_plugin(test_plugin("thread_device"));
          s.add_devices(2, "thread", {{"memory", 1_MiB}});
        }) == expected);
  CHECK(trained_on([](session& s) {
          s.load_plugin(test_plugin("devices"));
          s.use_policy("front");
          s.add_devices(1, "moody", {{"memory", 1_MiB}, {"hot", true}});
          s.add_devices(1, cpu_device{.memory = 1_MiB});
        }) == expected);
}

TEST_CASE("a session refuses a kind, a count or options before anything is made", "[plugin]") {
  session s{{.log = verbosity::quiet}};
  CHECK_THROWS_WITH(s.add_devices(1, "thread"), Contains("there is no such kind"));
  s.load_plugin(test_plugin("thread_device"));
  CHECK_THROWS_WITH(s.add_devices(0, "thread", {{"memory", 1_MiB}}), Contains("must be at least 1, got 0"));
  CHECK_THROWS_WITH(s.add_devices(1, "thread"), Contains("option memory (budget, enforced) is missing"));
  CHECK_THROWS_WITH(s.load_plugin(test_plugin("same_device")), Contains("thread_device.so"));
  CHECK_THROWS_WITH(s.use_policy(test_plugin("same_device").string()), Contains("thread_device.so"));
}
