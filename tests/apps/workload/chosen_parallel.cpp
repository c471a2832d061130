#include "apps/workload/chosen_parallel.hpp"

#include "apps/workload/parse.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps::chosen_parallel_test {

using Catch::Contains;

workload with(const std::string& parallel) {
  return parse_workload(bent("steps = 3", "steps = 3\nmicro_batches = 4\nparallel = " + parallel), "w.toml");
}

workload_plan plan_of(std::uint32_t replicas, std::uint32_t waves) {
  model_plan m;
  m.name = "gpt";
  m.replicas = replicas;
  m.waves = waves;
  workload_plan plan;
  plan.models.push_back(m);
  return plan;
}

TEST_CASE("replicas and waves are numbers or left to the planner") {
  CHECK(with("{ replicas = 2 }").models[0].description.parallel == parallel_options{2, 1});
  CHECK(with("{ replicas = \"auto\", waves = 2 }").models[0].description.parallel == parallel_options{0, 2});
  CHECK_FALSE(has_choices(with("{ replicas = 2, waves = 2 }")));
  CHECK(has_choices(with("{ waves = \"auto\" }")));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nparallel = { replicas = \"many\" }")),
             Contains("model.parallel.replicas") && Contains("or \"auto\""));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nparallel = { waves = 0 }")), Contains("model.parallel.waves"));
}

TEST_CASE("what the planner has chosen stands in the workload as it is run") {
  workload w = with("{ replicas = \"auto\", waves = \"auto\" }");
  set_chosen(w, plan_of(2, 1));
  CHECK(w.models[0].description.parallel == parallel_options{2, 1});
  CHECK_THAT(w.expanded, Contains("parallel = { replicas = 2, waves = 1 }"));
  CHECK(parse_workload(w.expanded, "w.toml").models[0].description.parallel == parallel_options{2, 1});
}

TEST_CASE("the number of shards of a model whose waves the planner has chosen stands there, too") {
  const auto shards_of = [](const std::string& parallel, const workload_plan& plan) {
    workload w = with(parallel);
    set_chosen(w, plan);
    const cut_choice again = parse_workload(w.expanded, "w.toml").models[0].description.cuts;
    const auto* rule = std::get_if<balanced_cut>(&again);
    return rule ? rule->shards : 0;
  };
  auto plan = plan_of(1, 2);
  plan.models[0].shards.resize(3);
  CHECK(shards_of("{ waves = \"auto\" }", plan) == 3);
  CHECK(shards_of("{ waves = 2 }", plan) == 1);
  CHECK(shards_of("{ waves = 2, shards = 4 }", plan) == 4);
  CHECK(shards_of("{ waves = \"auto\" }\ncuts = [0, 1]", plan) == 0);
  plan.models[0].waves = 1;
  CHECK(shards_of("{ waves = \"auto\" }", plan) == 1);
}

TEST_CASE("a number of shards is for balanced cuts") {
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nparallel = { shards = 2 }\ncuts = [0, 1]")),
             Contains("model.parallel.shards") && Contains("2 are asked for, and `cuts` has others"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nparallel = { shards = 0 }")), Contains("model.parallel.shards"));
}

TEST_CASE("a resumed run keeps the replicas of its start, and may have other waves") {
  workload first = with("{ replicas = \"auto\", waves = \"auto\" }");
  set_chosen(first, plan_of(4, 1));
  workload again = with("{ replicas = \"auto\", waves = \"auto\" }");
  keep_results(again, parse_toml(first.expanded, "w.toml"));
  CHECK(again.models[0].description.parallel == parallel_options{4, 0});
  CHECK_THAT(again.expanded, Contains("parallel = { replicas = 4, waves = \"auto\" }"));
  workload whole = with("{ replicas = \"auto\" }");
  keep_results(whole, parse_toml(example, "w.toml"));
  CHECK(whole.models[0].description.parallel == parallel_options{1, 1});
}

TEST_CASE("pieces that the planner has chosen stand in the workload as it is run, and a resumed run keeps them") {
  workload first = with("{ pieces = \"auto\" }");
  CHECK(has_choices(first));
  CHECK_FALSE(has_choices(with("{ pieces = 2, side_by_side = true }")));
  auto plan = plan_of(1, 1);
  plan.models[0].pieces = 2;
  set_chosen(first, plan);
  CHECK_THAT(first.expanded, Contains("pieces = 2"));
  CHECK_FALSE(has_choices(first));
  workload again = with("{ pieces = \"auto\" }");
  keep_results(again, parse_toml(first.expanded, "w.toml"));
  CHECK_FALSE(has_choices(again));
  CHECK_THAT(again.expanded, Contains("pieces = 2"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nparallel = { side_by_side = true }")),
             Contains("model.parallel.side_by_side") && Contains("give \"pieces\", too"));
}

TEST_CASE("a layer before which replicas meet needs replicas, and neither waves nor nodes") {
  const auto with_layer = [](const std::string& more) {
    return bent("steps = 3", "steps = 3\nmicro_batches = 4\nparallel = { " + more + "replicas_until = \"h.1\" }");
  };
  CHECK_THAT(refusal(with_layer("")), Contains("model.parallel.replicas_until") && Contains("give \"replicas\", too"));
  CHECK_THAT(refusal(with_layer("replicas = 2, waves = 2, ")), Contains("leave out \"waves\" and \"nodes\""));
  CHECK(with("{ replicas = \"auto\", replicas_until = \"h.1\" }").models[0].description.replicas_until == "h.1");
}

TEST_CASE("a resumed run keeps pieces, and takes side by side from the file unless that leaves it open") {
  const auto recorded = parse_toml(with("{ pieces = 2, side_by_side = true }").expanded, "w.toml");
  workload asked = with("{ pieces = \"auto\", side_by_side = false }");
  keep_results(asked, recorded);
  CHECK(asked.models[0].description.chain.pieces == 2);
  CHECK_FALSE(asked.models[0].description.chain.side_by_side);
  workload open = with("{ pieces = \"auto\", side_by_side = \"auto\" }");
  keep_results(open, recorded);
  CHECK(open.models[0].description.chain.side_by_side);
}

TEST_CASE("devices that would be idle all the time are told, with the key that gives them work") {
  CHECK(idle_devices_note(plan_of(1, 1), 2, "w.toml") ==
        "1 model on 2 devices: at most 1 of them can compute at a time. parallel = { waves = \"auto\" } in a [[model]] "
        "with several micro_batches divides its steps, with the same results; hydra plan w.toml says what that and "
        "replicas bring");
  CHECK(idle_devices_note(plan_of(2, 1), 2, "w.toml").empty());
  CHECK(idle_devices_note(plan_of(1, 2), 2, "w.toml").empty());
  CHECK(idle_devices_note(plan_of(1, 1), 1, "w.toml").empty());
  CHECK_THAT(idle_devices_note(plan_of(1, 3), 4, "w.toml"), Contains("at most 3 of them"));
}

}  // namespace hydra::apps::chosen_parallel_test
