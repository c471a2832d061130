// Instances as files.

#include "actors/simulation/instance_file.hpp"

#include "actors/simulation/generator.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"
#include "tests/actors/simulation/shipped_instances.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string smallest =
    R"({"format": "schedule-instance/1", "devices": [{}], "models": [{"steps": 2, "forward": [10], "backward": [30]}]})";

std::string refusal(const std::string& text) {
  try {
    parse_instance(text, "x.json");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what_happened().text, StartsWith("x.json: "));
    return e.what_happened().text;
  }
  return "accepted";
}

/// `smallest` with one text replaced.
std::string bent(const std::string& from, const std::string& to) {
  auto text = smallest;
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("the shipped instances are read, and written again byte for byte") {
  const auto files = shipped_instances();
  CHECK(files.size() == 28);
  for (const auto& file : files) {
    INFO(file);
    const auto instance = load_instance(file);
    CHECK(instance.name == file.stem());
    CHECK(to_json(instance) == text_of(file));
    CHECK(count_units(instance) == reference_of(instance.name).at("units"));
  }
}

TEST_CASE("a number that no computer can hold is refused as any other mistake") {
  CHECK_THAT(refusal(bent("\"devices\"", "\"noise\": 1e999, \"devices\"")), Contains("not a scheduling instance"));
}

TEST_CASE("what a file leaves out has its default") {
  const auto i = parse_instance(smallest, "dir/tiny.json");
  CHECK(i.name == "tiny");
  CHECK(i.models.at(0).name == "m00");
  CHECK(i.models.at(0).forward == std::vector<duration>{10us});
  CHECK(i.models.at(0).h2d == std::vector<duration>{0us});
  CHECK(i.devices.at(0).speed == 1);
  CHECK(i.slots == 2);
  CHECK(i.prefetch);
}

TEST_CASE("a depth survives a round trip, and is not written where one unit is staged at a time") {
  auto i = parse_instance(smallest, "x.json");
  CHECK(i.depth == 1);
  CHECK_THAT(to_json(i), !Contains("depth"));
  i.slots = 4;
  i.depth = 3;
  CHECK(parse_instance(to_json(i), "x.json").depth == 3);
}

TEST_CASE("replicas and waves survive a round trip, and are not written where there is one") {
  auto i = parse_instance(smallest, "x.json");
  CHECK_THAT(to_json(i), !Contains("replicas") && !Contains("waves"));
  i.models[0].replicas = 2;
  i.models[0].waves = 3;
  const auto again = parse_instance(to_json(i), "x.json");
  CHECK((again.models[0].replicas == 2 && again.models[0].waves == 3));
  CHECK_THAT(refusal(bent("\"steps\": 2", "\"steps\": 2, \"waves\": 0")), Contains("waves: 0 are given"));
}

TEST_CASE("bases and the first trained shard survive a round trip, and what contradicts itself is refused") {
  auto i = generate({.family = instance_family::equal, .models = 2, .rho = 1, .frozen = 0.9});
  i.models[1].first_trained = 3;
  const auto again = parse_instance(to_json(i), "x.json");
  CHECK(again.models[1].base == "shared");
  CHECK(again.models[1].base_h2d == i.models[0].base_h2d);
  CHECK(again.models[1].first_trained == 3);
  CHECK(to_json(again) == to_json(i));
  CHECK_THAT(to_json(parse_instance(smallest, "x.json")), !Contains("base") && !Contains("first_trained"));
  const auto with = [](const std::string& keys) { return refusal(bent("\"steps\": 2", "\"steps\": 2, " + keys)); };
  CHECK_THAT(with(R"("base": "x")"), Contains("base: is named, but \"base_h2d\" has no times"));
  CHECK_THAT(with(R"("base_h2d": [5, 5])"), Contains("base_h2d: 2 times are given for 1 shards"));
  CHECK_THAT(with(R"("h2d": [7], "base_h2d": [7])"),
             Contains("base_h2d[0]: 7 us is given, expected 0 or more than h2d[0], 7 us"));
  CHECK_THAT(with(R"("first_trained": 1)"), Contains("first_trained: 1 is given, a shard below 1 is expected"));
  i.models[1].base_h2d[2] += 1us;
  CHECK_THAT(refusal(to_json(i)), Contains("models[1] (m01).base_h2d: differs from models[0]"));
}

TEST_CASE("arrivals, priorities, deadlines, failures and noise survive a round trip") {
  auto i = parse_instance(smallest, "x.json");
  i.models[0].arrival = 5us;
  i.models[0].priority = 2.5;
  i.models[0].deadline = 77us;
  i.devices[0].fails = 1000us;
  i.noise = 0.1;
  i.seed = 18446744073709551615U;
  const auto again = parse_instance(to_json(i), "x.json");
  CHECK(again.models[0].arrival == 5us);
  CHECK(again.models[0].priority == 2.5);
  CHECK(again.models[0].deadline == 77us);
  CHECK(again.devices[0].fails == 1000us);
  CHECK(again.noise == 0.1);
  CHECK(again.seed == i.seed);
  CHECK(to_json(again) == to_json(i));
}

TEST_CASE("prices and powers of devices survive a round trip, and are refused if they say too little") {
  auto i = parse_instance(smallest, "x.json");
  CHECK_THAT(to_json(i), !Contains("price") && !Contains("watts") && !Contains("billing"));
  i.devices[0].terms = {.price = 3.06, .billed = billing::used, .watts = power_draw{300, 55}};
  const auto again = parse_instance(to_json(i), "x.json").devices[0].terms;
  CHECK(again.price == 3.06);
  CHECK(again.billed == billing::used);
  REQUIRE(again.watts);
  CHECK(std::pair(again.watts->busy, again.watts->idle) == std::pair(300.0, 55.0));
  const auto with = [](const std::string& devices) { return refusal(bent("[{}]", devices)); };
  CHECK_THAT(with(R"([{"price": 1}, {}])"), Contains("devices[1].price: is missing, but other devices have it"));
  CHECK_THAT(with(R"([{"price": -1}])"), Contains("devices[0].price: -1 is given"));
  CHECK_THAT(with(R"([{"watts": {"busy": 1}}])"), Contains("devices[0].watts: the key \"idle\" is missing"));
  CHECK_THAT(with(R"([{"watts": {"busy": 1, "idle": 2}}])"), Contains("devices[0].watts.idle: 2 is given"));
  CHECK_THAT(with(R"([{"billing": "used"}])"), Contains("devices[0].billing: is given for a device that has neither"));
  CHECK_THAT(with(R"([{"price": 1, "billing": "month"}])"), Contains("devices[0].billing: \"month\" is given"));
}

TEST_CASE("what is wrong in a file is refused by file and key") {
  CHECK_THAT(refusal(bent("schedule-instance/1", "schedule-instance/2")), Contains("format: \"schedule-instance/2\""));
  CHECK_THAT(refusal(bent("\"devices\": [{}], ", "")), Contains("\"devices\" is missing"));
  CHECK_THAT(refusal(bent("\"backward\"", "\"bakward\"")), Contains("models[0]: the key \"backward\" is missing"));
  CHECK_THAT(refusal(bent("\"steps\"", "\"stepps\": 1, \"steps\"")),
             Contains("\"stepps\" is not known; did you mean \"steps\"?"));
  CHECK_THAT(refusal(bent("[10]", "[1.5]")),
             Contains("models[0].forward[0]: 1.5 is given, expected a time in whole"));
  CHECK_THAT(refusal(bent("[10]", "[-1]")), Contains("models[0].forward[0]"));
  CHECK_THAT(refusal(bent("[10]", "[9223372036854775807]")), Contains("models[0].forward[0]"));
  CHECK_THAT(refusal(bent("[10]", "10")), Contains("models[0].forward: 10 is given, expected a list"));
  CHECK_THAT(refusal(bent("[10]", "[10, 20]")), Contains("models[0] (m00).backward: 1 times are given for 2 shards"));
  CHECK_THAT(refusal(bent("2,", "4294967296,")), Contains("models[0].steps"));
  CHECK_THAT(refusal(bent("2,", "true,")), Contains("models[0].steps"));
  CHECK_THAT(refusal(bent("[{}]", "[{\"speed\": \"1\"}]")), Contains("devices[0].speed"));
  CHECK_THAT(refusal(bent("[{}]", "[3]")), Contains("devices[0]: 3 is given, expected an object"));
  CHECK_THAT(refusal(bent("[{}]", "[]")), Contains("devices: is empty"));
  CHECK_THAT(refusal(bent("[{}],", "[{}], \"prefetch\": 1,")),
             Contains("prefetch: 1 is given, expected true or false"));
  CHECK_THAT(refusal(bent("[{}],", "[{}], \"time_unit\": \"ms\",")), Contains("time_unit"));
  CHECK_THAT(refusal(bent("[{}],", "[{}], \"link\": {\"private\": false},")), Contains("link.private: false"));
  CHECK_THAT(refusal(bent("[{}],", "[{}], \"slots\": 0,")), Contains("slots: 0 are given"));
  CHECK_THAT(refusal("[]"), Contains("expected an object"));
  CHECK_THAT(refusal(""), Contains("not valid JSON"));
  CHECK_THROWS_WITH(load_instance("/none.json"), Contains("/none.json: no such file"));
  CHECK_THROWS_WITH(load_instance("/"), Contains("/: a folder; a file is expected"));
}

TEST_CASE("a file that was cut off anywhere is refused, and none with damaged bytes crashes") {
  const auto whole = text_of(instances_folder() / "few-1x2.json");
  for (std::size_t n = 0; n + 2 < whole.size(); n += 7) {
    CHECK_THAT(refusal(whole.substr(0, n)), Contains("not valid JSON"));
  }
  portable_random random{1};
  for (int round = 0; round < 2000; ++round) {
    auto text = whole;
    for (int i = 0; i < 3; ++i) {
      text[random.whole(0, static_cast<std::uint32_t>(text.size()) - 1)] = static_cast<char>(random.whole(0, 255));
    }
    try {
      parse_instance(text, "x.json");
    } catch (const fault_error& e) {
      REQUIRE(e.what_happened().code == fault_code::bad_input);
    }
  }
}

TEST_CASE("a time that is not a whole microsecond is not written") {
  auto i = parse_instance(smallest, "x.json");
  i.models[0].forward[0] = 1500ns;
  CHECK_THROWS_WITH(to_json(i), Contains("1500 ns"));
}
