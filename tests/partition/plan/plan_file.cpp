#include "partition/plan/plan_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/support/random_profile.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <random>

using namespace hydra;
using namespace hydra::test;
using namespace hydra::literals;
using Catch::Matchers::Contains;

namespace {

/// Two models of one profile, cut differently.
workload_plan two_models() {
  static const auto model = small_gpt({.layers = 3, .width = 16, .heads = 2, .context = 6});
  static const auto profile = std::make_shared<const chain_profile>(profile_of(model, 2));
  const plan_request first{.name = "a",
                           .model = model.body.get(),
                           .profile = profile.get(),
                           .micro_batches = 2,
                           .rule = adamw({}),
                           .cuts = cut_points{0, 2}};
  plan_request second = first;
  second.name = "b";
  second.cuts = cut_points{0, 1, 4};
  const plan_request requests[] = {first, second};
  const device_info device{.name = "d", .memory = 1_GiB};
  auto plan = make_plan(requests, {&device, 1});
  plan.models[0].profile = plan.models[1].profile = "gpt";
  plan.profiles.emplace("gpt", profile);
  return plan;
}

fault refusal(std::string_view text) {
  try {
    parse_plan(text, "plan.json");
  } catch (const fault_error& e) {
    return e.what_happened();
  }
  return {};
}

}  // namespace

TEST_CASE("a plan is written as JSON with its shards, bytes and times") {
  const auto plan = two_models();
  const auto json = nlohmann::json::parse(to_json(plan));
  CHECK(json["host_bytes"] == plan.host_needed.value());
  CHECK(json["sufficient_bytes"] == plan.sufficient.value());
  CHECK(json["models"].size() == 2);
  CHECK(json["models"][0]["name"] == "a");
  CHECK(json["models"][0]["shards"][0]["last_layer"] == 1);
  CHECK(json["models"][0]["shards"][1]["parameter_bytes"] == plan.models[0].shards[1].parameters.value());
  CHECK(json["profiles"]["gpt"]["costs"].size() == 3);  // embeddings, three blocks, head
}

TEST_CASE("a plan that is read back has the cuts and, to the nanosecond, the profiles of the one that was written") {
  const auto plan = two_models();
  const temporary_file file(to_json(plan));
  const auto saved = load_plan(file.path());
  CHECK(cuts_for(saved, "a", 5) == cut_points{0, 2});
  CHECK(cuts_for(saved, "b", 5) == cut_points{0, 1, 4});
  CHECK(*saved.profiles.at("gpt") == *plan.profiles.at("gpt"));
}

TEST_CASE("profiles of any bytes and times survive being written") {
  std::mt19937 random(41);
  workload_plan plan;
  for (int i = 0; i < 50; ++i) {
    auto p = random_profile(random, 1 + random() % 12);
    for (auto& layer : p.layers) {
      layer.forward = duration{random() % 4000000000};
      layer.backward = duration{random()} * (random() % 100000);
      layer.kind = "a \"layer\"; of 3";
    }
    plan.profiles.emplace(std::to_string(i), std::make_shared<const chain_profile>(p));
  }
  const auto saved = parse_plan(to_json(plan), "plan.json");
  for (const auto& [key, profile] : plan.profiles) {
    CHECK(*saved.profiles.at(key) == *profile);
  }
}

TEST_CASE("a saved plan refuses a model it does not have, naming the nearest, and a chain of another length") {
  const auto saved = parse_plan(to_json(two_models()), "plan.json");
  CHECK_THROWS_WITH(cuts_for(saved, "bb", 5),
                    Contains("plan \"plan.json\"") && Contains("no model 'bb'; did you mean \"b\"?"));
  CHECK_THROWS_WITH(cuts_for(saved, "a", 6), Contains("5 layers of model 'a'") && Contains("has 6"));
}

TEST_CASE("a file that is missing, a folder, empty or no JSON is refused by name") {
  CHECK_THROWS_WITH(load_plan("nowhere.json"), Contains("plan \"nowhere.json\": no such file"));
  CHECK_THROWS_WITH(load_plan("/"), Contains("/: a folder; a file is expected"));
  CHECK_THAT(refusal("").text, Contains("plan \"plan.json\": is not JSON"));
  CHECK_THAT(refusal("[model]\n").text, Contains("is not JSON"));
}

TEST_CASE("JSON that is not a plan is refused") {
  for (const char* text :
       {"[]", "3", "{}", R"({"models": 3, "profiles": {}})", R"({"models": [{}], "profiles": {}})",
        R"({"models": [{"name": "a", "shards": []}], "profiles": {}})",
        R"({"models": [{"name": "a", "shards": [{"first_layer": 1, "last_layer": 2}]}], "profiles": {}})",
        R"({"models": [], "profiles": {"x": {"samples": 1}}})"}) {
    INFO(text);
    CHECK(refusal(text).code == fault_code::bad_input);
    CHECK_THAT(refusal(text).text, Contains("plan \"plan.json\": "));
  }
}

TEST_CASE("a plan cut off anywhere is refused, never taken for a whole one") {
  const auto text = to_json(two_models());
  const auto end = text.find_last_of('}');
  for (std::size_t n = 0; n < end; n += 7) {
    CHECK(refusal(text.substr(0, n)).code == fault_code::bad_input);
  }
}

TEST_CASE("a plan with any one value changed for another kind of value is refused or read, and nothing else") {
  const auto whole = nlohmann::json::parse(to_json(two_models())).flatten();
  for (const auto& [path, value] : whole.items()) {
    for (const auto& other :
         {nlohmann::json("text"), nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(nullptr)}) {
      auto bent = whole;
      bent[path] = other;
      const auto code = refusal(bent.unflatten().dump()).code;
      CHECK((code == fault_code::none || code == fault_code::bad_input));
    }
  }
}

TEST_CASE("costs of a plan without a number of staged units have one, and no plan has none or too many") {
  auto j = nlohmann::json::parse(to_json(two_models()));
  const auto costs = [&] { return parse_costs(j.dump(), "plan.json").staged_units; };
  for (const auto& units : {nlohmann::json(0), nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(65),
                            nlohmann::json(true)}) {
    j["staged_units"] = units;
    CHECK_THROWS_WITH(costs(), Contains("has " + units.dump() + " staged units, expected 1 to 64"));
  }
  j.erase("staged_units");
  CHECK(costs() == 1);
}

TEST_CASE("the costs of a plan that is read back are those of the one that was written, in bytes and nearly in times") {
  auto plan = two_models();
  plan.staged_units = 3;
  const auto costs = parse_costs(to_json(plan), "plan.json");
  CHECK(costs.staging_bytes == plan.staging_bytes);
  CHECK(costs.staged_units == 3);
  REQUIRE(costs.models.size() == 2);
  for (std::size_t m = 0; m < 2; ++m) {
    CHECK(costs.models[m].name == plan.models[m].name);
    CHECK(costs.models[m].micro_batches == 2);
    REQUIRE(costs.models[m].shards.size() == plan.models[m].shards.size());
    for (std::size_t s = 0; s < costs.models[m].shards.size(); ++s) {
      const auto& read = costs.models[m].shards[s];
      const auto& written = plan.models[m].shards[s];
      CHECK(read.last_layer == written.last_layer);
      CHECK(read.parameters == written.parameters);
      CHECK(read.output == written.output);
      CHECK(read.targets == written.targets);
      CHECK(read.backward.computing() == written.backward.computing());
      CHECK(read.forward.write_back == written.forward.write_back);
      CHECK(seconds(read.backward_time) == Approx(seconds(written.backward_time)).margin(2e-9));
      CHECK(seconds(read.update_time) == Approx(seconds(written.update_time)).margin(2e-9));
    }
  }
}

TEST_CASE("a plan that is read back divides steps as the one that was written") {
  auto plan = two_models();
  plan.models[0].replicas = 2;
  plan.models[1].waves = 2;
  const auto costs = parse_costs(to_json(plan), "plan.json");
  CHECK(costs.models[0].shape() == plan.models[0].shape());
  CHECK(costs.models[1].shape() == plan.models[1].shape());
  auto json = nlohmann::json::parse(to_json(plan));
  json["models"][0]["replicas"] = 3;
  CHECK_THROWS_WITH(parse_costs(json.dump(), "plan.json"), Contains("3 replicas do not divide the 2 micro-batches"));
}

TEST_CASE("a plan that is read back has the frozen shards and the bases that models share") {
  auto plan = two_models();
  auto& m = plan.models[1];
  m.first_trained = 1;
  m.shards[0].base = 4_KiB;
  m.shards[0].shared_base = base_place{model_id{0}, shard_index{1}};
  const auto costs = parse_costs(to_json(plan), "plan.json");
  CHECK(costs.models[1].shape() == m.shape());
  CHECK(costs.models[1].shards[0].base == 4_KiB);
  CHECK(costs.models[1].shards[0].shared_base == m.shards[0].shared_base);
  CHECK_FALSE(costs.models[1].shards[1].shared_base);
}

TEST_CASE("costs of a plan without the profile of a model, or with other layers, are refused") {
  auto json = nlohmann::json::parse(to_json(two_models()));
  json["models"][1]["shards"][2]["last_layer"] = 9;
  CHECK_THROWS_WITH(parse_costs(json.dump(), "plan.json"), Contains("plan \"plan.json\": "));
  json["models"][0]["profile"] = "other";
  CHECK_THROWS_WITH(parse_costs(json.dump(), "plan.json"), Contains("has no profile"));
  CHECK_THROWS_WITH(parse_costs("{\"models\": [", "plan.json"), Contains("cut off"));
}

TEST_CASE("a plan in bf16 keeps its element types, and the bytes of masters and gradients") {
  const auto gradients = GENERATE(precision::fp32, precision::bf16);
  const auto model = rounded(small_gpt({.layers = 1, .width = 16, .heads = 2, .context = 6}), gradients);
  const auto profile = std::make_shared<const chain_profile>(profile_of(model, 2));
  const plan_request request{.name = "a",
                             .model = model.body.get(),
                             .profile = profile.get(),
                             .micro_batches = 2,
                             .rule = adamw({}),
                             .cuts = cut_points{0, 2}};
  const device_info device{.name = "d", .memory = 1_GiB};
  auto plan = make_plan({&request, 1}, {&device, 1});
  plan.models[0].profile = "gpt";
  plan.profiles.emplace("gpt", profile);
  CHECK(*parse_plan(to_json(plan), "p").profiles.at("gpt") == *profile);
  const auto costs = parse_costs(to_json(plan), "p");
  for (const std::size_t s : {0, 1}) {
    const auto& planned = plan.models[0].shards[s];
    CHECK(planned.masters == planned.parameters * 2);
    CHECK(costs.models[0].shards[s].masters == planned.masters);
    CHECK(costs.models[0].shards[s].gradient_bytes() == planned.parameters * (gradients == precision::bf16 ? 1u : 2u));
    CHECK(costs.models[0].shards[s].backward.working == planned.backward.working);
    CHECK(costs.models[0].shards[s].backward.write_back == planned.backward.write_back);
  }
  CHECK(suits(*profile, *model.body, model.data->sample_target(), 2));
  CHECK_FALSE(suits(*profile, *small_gpt({.layers = 1, .width = 16, .heads = 2, .context = 6}).body,
                    model.data->sample_target(), 2));
}

TEST_CASE("a plan from an unknown source causes an error message, not a crash") {
  const auto text = to_json(two_models());
  const auto with = [&](const std::string& key, const std::string& value) {
    auto other = text;
    const auto at = other.find("\"" + key + "\": ") + key.size() + 4;
    return other.replace(at, other.find_first_of(",\n", at) - at, value);
  };
  const auto complaint = [](const std::string& plan) {
    try {
      parse_costs(plan, "plan.json");
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
    return std::string{};
  };
  CHECK(complaint(text).empty());
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK_THAT(complaint(with("saved_bytes", deep)), Contains("plan.json") && Contains("nested more than 100 deep"));
  CHECK_THAT(complaint(with("forward_s", "1e300")), Contains("a time is a number of seconds"));
  CHECK_THAT(complaint(with("forward_s", "-1.0")), Contains("a time is a number of seconds"));
  CHECK_THAT(complaint(with("moment_bytes", "-8")), Contains("a number of bytes is an integer of at least 0"));
}
