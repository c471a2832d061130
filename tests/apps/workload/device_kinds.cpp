#include "apps/workload/device_kinds.hpp"

#include "apps/workload/option_keys.hpp"
#include "runtime/device/cuda/cuda_options.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace hydra::apps {

using namespace literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// The example with another device, whose `kind` is on line 6, and a plug-in.
std::string with_plugin(const std::string& device) {
  std::string text = bent("kind = \"cpu\"\nmemory = \"24MiB\"", device);
  const std::string seed = "seed = 7";
  return text.replace(text.find(seed), seed.size(),
                      seed + "\nplugins = [\"" + hydra::test::test_plugin("devices").string() + "\"]");
}

std::string with_cuda(const std::string& lines) {
  return refusal(bent("kind = \"cpu\"\nmemory = \"24MiB\"", "kind = \"cuda\"\n" + lines));
}

option_values options_in(const std::string& text) {
  const workload w = parse_workload(text, "w.toml");
  const device_entry& d = w.devices.at(0);
  return read_options(*d.keys.as<value_table>(), d.kind.keys);
}

}  // namespace

TEST_CASE("a cuda device is checked whether its plug-in is there or not") {
  CHECK(with_cuda("") == "");
  CHECK(with_cuda("count = 2\nindex = 1\nmemory = \"60%\"\nprecision = \"bf16\"\ngradients = \"bf16\"\ntf32 = true\n"
                  "pool = \"expandable\"") == "");
  CHECK_THAT(refusal(bent("\"cpu\"", "\"gpu\"")), StartsWith("w.toml:5: device.kind: ") && Contains("mean \"cuda\""));
  CHECK_THAT(with_cuda("indx = 1"), StartsWith("w.toml:6: device.indx: unknown key") && Contains("\"index\""));
  CHECK_THAT(with_cuda("index = -1"), StartsWith("w.toml:6: device.index: -1 ") && Contains("at least 0"));
  CHECK_THAT(with_cuda("memory = \"160%\""), StartsWith("w.toml:6: device.memory: "));
  CHECK_THAT(with_cuda("pool = \"arenas\""), StartsWith("w.toml:6: device.pool: ") && Contains("mean \"arena\""));
  CHECK_THAT(with_cuda("tf32 = 1"), StartsWith("w.toml:6: device.tf32: 1 ") && Contains("true or false"));
  CHECK_THAT(
      with_cuda("link = \"1GiB/s\""),
      StartsWith(
          "w.toml:6: device.link: unknown key; it belongs to kind \"cpu\"; kind \"cuda\" takes index, memory, ") &&
          !Contains("did you mean"));
  CHECK_THAT(refusal(bent("memory = \"24MiB\"", "memory = 1\ntf32 = true")),
             StartsWith("w.toml:7: device.tf32: unknown key; it belongs to kind \"cuda\""));
}

TEST_CASE("the keys of a cuda device are the options of its plug-in") {
  const auto& kinds = device_kinds();
  const auto cuda = std::ranges::find(kinds, "cuda", &device_kind::name);
  REQUIRE(cuda != kinds.end());
  CHECK(cuda->of_plugin);
  const auto options = cuda_option_list();
  REQUIRE(cuda->keys.size() == options.size());
  const auto given = options_in(bent("kind = \"cpu\"\nmemory = \"24MiB\"",
                                     "kind = \"cuda\"\nindex = 1\nmemory = 1024\nprecision = \"bf16\"\ntf32 = true\n"
                                     "gradients = \"bf16\"\npool = \"arena\"\ncontext = \"1MiB\""));
  for (const option& o : options) {
    INFO(o.name);
    REQUIRE(given.contains(o.name));
    CHECK(given.at(o.name).index() == o.standard.index());
  }
  CHECK(std::get<std::string>(given.at("memory")) == "1024");
}

TEST_CASE("the options of a plug-in's device are keys of every type") {
  const auto given =
      options_in(with_plugin("kind = \"moody\"\nmemory = \"2MiB\"\nmood = \"fair\"\nhot = true\nfans = 3\ntilt = "
                             "1\nbus = \"1MiB/s\"\nnap = \"5ms\""));
  CHECK(given == option_values{{"memory", 2_MiB},
                                {"mood", std::string{"fair"}},
                                {"hot", true},
                                {"fans", std::int64_t{3}},
                                {"tilt", 1.0},
                                {"bus", byte_rate{1048576}},
                                {"nap", duration{5'000'000}}});
}

TEST_CASE("a plug-in's device is checked as any other, with the line") {
  const auto moody = [](const std::string& lines) { return refusal(with_plugin("kind = \"moody\"\n" + lines)); };
  CHECK(moody("memory = \"1MiB\"") == "");
  CHECK_THAT(moody(""), StartsWith("w.toml:5: device.memory: missing"));
  CHECK_THAT(moody("memory = \"1MiB\"\nfan = 3"),
             StartsWith("w.toml:8: device.fan: unknown key") && Contains("\"fans\""));
  CHECK_THAT(moody("memory = \"1MiB\"\nfans = 1.5"),
             StartsWith("w.toml:8: device.fans: 1.5 ") && Contains("an integer"));
  CHECK_THAT(moody("memory = \"1MiB\"\nbus = 3"), StartsWith("w.toml:8: device.bus: 3 ") && Contains("a rate such as"));
  CHECK_THAT(refusal(with_plugin("kind = \"mody\"\nmemory = 1")),
             StartsWith("w.toml:6: device.kind: ") && Contains("mean \"moody\"") && Contains("cuda"));
  CHECK_THAT(refusal(bent("\"cpu\"", "\"moody\"")), StartsWith("w.toml:5: device.kind: unknown value \"moody\""));
}

TEST_CASE("an option that every device has already is refused") {
  const known_device bad{"bad", "", {{{.name = "count", .standard = false}}, {}}, "x.so", {}};
  CHECK_THROWS_WITH(device_kinds_with({bad}), Contains("x.so") && Contains("\"bad\" has an option \"count\""));
}

TEST_CASE("devices of several precisions are refused at the first that differs") {
  const auto precision_of = [](const std::string& second) {
    const workload w =
        parse_workload(bent("memory = \"24MiB\"", "memory = 1\nprecision = \"bf16\"\n[[device]]\n" + second), "w.toml");
    try {
      return to_string(common_formats(w.devices).numbers);
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
  };
  CHECK(precision_of("kind = \"cuda\"\nprecision = \"bf16\"") == "bf16");
  CHECK(precision_of("kind = \"cuda\"\nprecision = \"fp32\"") ==
        "w.toml:10: device.precision: fp32 here, but bf16 at w.toml:4; it decides results, so give all devices of a "
        "run the same");
  CHECK_THAT(precision_of("kind = \"cuda\"\nindex = 0"),
             StartsWith("w.toml:8: device.precision: fp32 here, but bf16 at w.toml:4"));
}

TEST_CASE("gradients in bf16 are refused of devices in fp32, and where devices differ") {
  const auto refused = [](const std::string& keys) {
    const workload w = parse_workload(bent("memory = \"24MiB\"", "memory = 1\n" + keys), "w.toml");
    try {
      return to_string(common_formats(w.devices).gradients);
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
  };
  CHECK(refused("precision = \"bf16\"\ngradients = \"bf16\"") == "bf16");
  CHECK_THAT(refused("gradients = \"bf16\""),
             StartsWith("w.toml:7: device.gradients: ") && Contains("precision = \"bf16\""));
  CHECK_THAT(refused("precision = \"bf16\"\n[[device]]\nkind = \"cuda\"\nprecision = \"bf16\"\ngradients = \"bf16\""),
             StartsWith("w.toml:11: device.gradients: bf16 here, but fp32 at w.toml:4"));
}

TEST_CASE("an option named precision of another plug-in's device is not compared") {
  key_rule own{.name = "precision", .fallback = "half"};
  value_table keys;
  keys.set("precision", text_value("bf16", {}));
  const device_entry odd{{"odd", "", {own}, true, {}}, 1, {{}, "", keys}};
  CHECK(common_formats({odd}) == number_formats{});
}

}  // namespace hydra::apps
