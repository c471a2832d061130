// hydra bench scaling on tiny workloads. No test depends on a time.

#include "apps/bench/scaling.hpp"
#include "apps/bench/scaling_run.hpp"
#include "tests/apps/commands/hydra_program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace hydra::apps {

using Catch::Contains;

namespace {

constexpr duration short_visit = std::chrono::microseconds(100);

report with_model(const std::string& name, const std::string& digest) {
  report r;
  model_report m;
  m.name = name;
  m.digest = digest;
  r.models.push_back(m);
  return r;
}

}  // namespace

TEST_CASE("the utilisation of a run is the part of the time of all its devices in which they compute") {
  report r;
  r.makespan = std::chrono::seconds(2);
  r.limits.work = std::chrono::seconds(1);
  r.devices.resize(2);
  r.devices[0].busy = std::chrono::seconds(2);
  r.devices[1].busy = std::chrono::seconds(1);
  const scaling_run run = figures_of(r);
  CHECK(run.makespan == Approx(2));
  CHECK(run.bound == Approx(1));
  CHECK(run.utilisation == Approx(0.75));
}

TEST_CASE("a scaling benchmark stops if a model ends with other parameters than before") {
  known_parameters known;
  known.check(with_model("a", "sha256:1"), "first");
  known.check(with_model("b", "sha256:2"), "second");
  known.check(with_model("a", "sha256:1"), "third");
  CHECK_THROWS_WITH(known.check(with_model("a", "sha256:2"), "fourth"), Contains("fourth: the parameters of a differ"));
}

TEST_CASE("the bubble of a pipeline shrinks with its waves and with the shards of a device") {
  CHECK(bubble_formula(8, {.waves = 1}) == Approx(7.0 / 8));
  CHECK(bubble_formula(8, {.waves = 16}) == Approx(7.0 / 23));
  CHECK(bubble_formula(8, {.waves = 16, .shards_per_device = 2}) == Approx(7.0 / 39));
  CHECK(bubble_formula(1, {.waves = 1}) == 0);
}

TEST_CASE("scaling runs every number of models on every number of devices, over the first of the same repeat") {
  const auto r = measure_model_scaling({.models = {1, 2},
                                        .devices = {1, 2},
                                        .repeats = 2,
                                        .workload = {.steps = 1, .layers = 2, .width = 16, .forward = short_visit}});
  REQUIRE(r.cells.size() == 4);
  CHECK(r.cells[0].speed_up.values == std::vector<double>{1, 1});
  CHECK(r.cells[2].speed_up.values == std::vector<double>{1, 1});
  CHECK(r.cells[3].models == 2);
  CHECK(r.cells[3].devices == 2);
  CHECK(r.cells[3].utilisation.values.size() == 2);
  CHECK_THAT(to_table(r), Contains("speed-up median") && Contains("makespan/bound") && Contains("utilisation"));
  CHECK(json_of(r).size() == 4);
}

TEST_CASE("scaling runs every number of replicas on every link, over one device without replicas") {
  const auto r = measure_replica_scaling({.replicas = {1, 2},
                                          .ratios = {0.25, 1},
                                          .repeats = 1,
                                          .workload = {.devices = 2,
                                                       .steps = 1,
                                                       .layers = 2,
                                                       .width = 16,
                                                       .batch_size = 4,
                                                       .micro_batches = 4,
                                                       .forward = short_visit}});
  REQUIRE(r.cells.size() == 4);
  for (const auto& c : r.cells) CHECK(c.speed_up.values.size() == 1);
  CHECK(r.cells[3].replicas == 2);
  CHECK(seconds(r.cells[0].link.time_for(byte_count{1000})) * 4 ==
        Approx(seconds(r.cells[2].link.time_for(byte_count{1000}))).epsilon(0.001));
  CHECK_THAT(to_table(r), Contains("one model on 2 devices") && Contains("of a replica"));
  CHECK(json_of(r)[3]["promote_over_unit_of_step"] == 1);
}

TEST_CASE("scaling compares policies, waves and cuts of one model, whose parameters they do not change") {
  const auto r = measure_pipeline_scaling(
      {.variants = {{.policy = "fifo"}, {.policy = {}, .waves = 2}, {.policy = {}, .shards_per_device = 2}},
       .repeats = 2,
       .workload = {.devices = 2,
                    .steps = 1,
                    .layers = 3,
                    .width = 16,
                    .batch_size = 4,
                    .micro_batches = 4,
                    .forward = short_visit,
                    .equal_stages = true}});
  REQUIRE(r.rows.size() == 3);
  for (const auto& row : r.rows) CHECK(row.bubble.values.size() == 2);
  CHECK_THAT(to_table(r), Contains("fifo") && Contains("default") && Contains("formula") && Contains("bit for bit"));
  const auto j = json_of(r);
  CHECK(j[1]["waves"] == 2);
  CHECK(j[2]["shards"] == 4);
  CHECK(j[1]["bubble_formula"].get<double>() == Approx(1.0 / 3));
}

TEST_CASE("scaling computes the pieces of one model in turn and side by side, which does not change its parameters") {
  const auto r = measure_piece_scaling({.devices = {2},
                                        .repeats = 2,
                                        .workload = {.steps = 1,
                                                     .layers = 2,
                                                     .width = 16,
                                                     .batch_size = 4,
                                                     .pieces = 2,
                                                     .forward = short_visit}});
  REQUIRE(r.rows.size() == 4);
  CHECK(r.rows[0].speed_up.values == std::vector<double>{1, 1});
  CHECK(r.rows[3].utilisation.values.size() == 2);
  CHECK(r.rows[1].memory > byte_count{});
  CHECK(r.rows[1].memory < r.rows[0].memory);
  CHECK_THAT(to_table(r), Contains("whole") && Contains("2 pieces in turn") && Contains("side by side"));
  const auto j = json_of(r);
  CHECK(j[2]["memory_bytes"] == 0);
  CHECK(j[3]["side_by_side"] == true);
  CHECK(j[3]["devices"] == 2);
}

TEST_CASE("the JSON of scaling has the parts that were measured") {
  scaling_result r;
  r.replicas = replica_scaling_result{8, {}, {{.ratio = 0.25, .replicas = 2}}};
  const auto j = json_of(r);
  CHECK(j["replicas"].size() == 1);
  CHECK_FALSE(j.contains("models"));
  CHECK_THAT(to_table(r), Contains("replicas") && !Contains("policy"));
}

TEST_CASE("rows that scaling does not have are refused, and so are rows of another benchmark") {
  const temporary_folder folder;
  const outcome unknown = run_hydra(folder, "bench scaling --rows model");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("--rows: unknown \"model\"") && Contains("mean \"models\""));
  const outcome other = run_hydra(folder, "bench overlap --rows models");
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Contains("hydra bench overlap has one table"));
}

}  // namespace hydra::apps
