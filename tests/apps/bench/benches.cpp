// Benchmarks on tiny workloads: they run and print the documented output. No test depends on a time.

#include "apps/bench/ablation.hpp"
#include "apps/bench/overlap.hpp"
#include "apps/bench/paced_layer.hpp"
#include "apps/bench/search_scaling.hpp"
#include "apps/bench/sharing.hpp"
#include "models/layers/linear.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sched.h>

#include <algorithm>
#include <sstream>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr bench_workload tiny{.steps = 1, .layers = 2, .width = 16, .batch_size = 4};

}  // namespace

TEST_CASE("a measurement has its median, least and largest value") {
  CHECK(measurement{{3, 1, 2}}.median() == 2);
  CHECK(measurement{{4, 1, 2, 3}}.median() == 2.5);
  CHECK(measurement{}.median() == 0);
  CHECK(to_string(measurement{{3, 1, 2}}) == "2.000 [1.000..3.000]");
  CHECK(json_of(measurement{{3, 1, 2}})["values"].size() == 3);
}

TEST_CASE("a machine is named by its first processor") {
  const auto named = [](const std::string& cpuinfo) {
    std::istringstream text{cpuinfo};
    return processor_in(text);
  };
  CHECK(named("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13: 64\nmodel name\t: other\n") ==
        "AMD EPYC 7B13: 64");
  CHECK(named("processor\t: 0\nmodel name\n") == "unknown processor");
}

TEST_CASE("the cores in use are those that the process may run on") {
  cpu_set_t all, one;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  CHECK(this_machine().cores_used == static_cast<unsigned>(CPU_COUNT(&all)));
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const machine_description m = this_machine();
  REQUIRE(::sched_setaffinity(0, sizeof all, &all) == 0);
  CHECK(m.cores_used == 1);
  CHECK_THAT(to_string(machine_description{"CPU", 2, 64}), StartsWith("CPU, 2 cores used of 64"));
}

TEST_CASE("a search on more nodes has the same decisions, and is beside what its rungs allow") {
  const search_scaling_result r =
      measure_search_scaling({.nodes = {1, 2},
                              .repeats = 1,
                              .first = 1,
                              .workload = {.models = 4, .steps = 4, .layers = 2, .width = 16, .batch_size = 4}});
  REQUIRE(r.cells.size() == 2);
  CHECK(r.cells[0].speed_up.median() == 1);
  CHECK(r.cells[1].possible.median() == Approx(8.0 / 5));  // 4 + 2 + 2 steps, or 2 + 1 + 2
  CHECK_THAT(to_table(r), Contains("makespan/bound"));
  CHECK(json_of(r)["cells"][1]["nodes"] == 2);
}

TEST_CASE("the JSON of a benchmark begins with its name and the machine") {
  const nlohmann::ordered_json result{{"rows", 1}};
  CHECK(nlohmann::ordered_json::parse(to_json("overlap", {"CPU", 2, 64}, result)).dump() ==
        R"({"name":"overlap","processor":"CPU","cores_used":2,"rows":1})");
}

TEST_CASE("the link makes a promote so many times as long as a unit") {
  const bench_plan p{byte_count{1}, byte_count{2}, std::chrono::milliseconds{10}, byte_count{1000}};
  CHECK(seconds(link_for(p, 1).time_for(byte_count{1000})) == Approx(0.01));
  CHECK(seconds(link_for(p, 0.5).time_for(byte_count{1000})) == Approx(0.005));
  CHECK(seconds(link_for(p, 4).time_for(byte_count{1000})) == Approx(0.04));
}

TEST_CASE("the plan of a bench has the smallest budget, and the bench runs in it") {
  bench_workload w = tiny;
  w.memory = plan_bench(w).least;
  CHECK(run_bench(w).all_finished());
  w.memory = byte_count{w.memory.value() - 512};
  CHECK_THROWS_AS(run_bench(w), fault_error);
}

TEST_CASE("a paced layer computes what its inner layer does and takes at least its time") {
  const auto inner = std::make_shared<linear>(linear_options{.in = 2, .out = 2});
  const paced_layer paced(inner, std::chrono::milliseconds(2));
  const auto w = test::zeros({2, 2}), b = test::zeros({2}), x = test::zeros({1, 2});
  const std::vector<at::Tensor> parameters{w, b};
  const auto start = steady_clock::now();
  const auto y = paced.forward(parameters, x, {});
  CHECK(steady_clock::now() - start >= std::chrono::milliseconds(2));
  CHECK(test::same_bits(y, inner->forward(parameters, x, {})));
}

TEST_CASE("the pieces of a paced layer take its time together") {
  const paced_layer paced(std::make_shared<linear>(linear_options{.in = 2, .out = 4, .gelu = true}),
                          std::chrono::milliseconds(8));
  for (const bool side_by_side : {false, true}) {
    const auto parts = paced.in_pieces({.pieces = 4, .side_by_side = side_by_side});
    CHECK(std::ranges::count_if(parts, [](const chain_part& p) {
            return p.body->signature().find("in 2.0 ms") != std::string::npos;
          }) == 4);
  }
}

TEST_CASE("overlap measures every cell in every repeat") {
  const overlap_result r = measure_overlap({.models = {1, 2}, .ratios = {0.1, 1}, .repeats = 2, .workload = tiny});
  REQUIRE(r.cells.size() == 12);
  for (const overlap_cell& c : r.cells) CHECK(c.makespan_over_bound.values.size() == 2);
  CHECK(r.cells.front().memory * 3 == r.cells.back().memory);
  CHECK_THAT(to_table(r), Contains("models") && Contains("promote/unit") && Contains("makespan/bound"));
  const auto j = json_of(r);
  CHECK(j["cells"].size() == 12);
  CHECK(j["cells"][3]["models"] == 2);
  CHECK(j["cells"][3]["makespan_over_bound"]["values"].size() == 2);
}

TEST_CASE("every ablation runs in every round, over the full system of that round") {
  bench_workload two = tiny;
  two.devices = 2;
  two.models = 2;
  const ablation_result r = measure_ablation({.repeats = 2, .workload = two});
  REQUIRE(r.rows.size() == ablation_variants().size());
  CHECK(r.rows[0].over_full.values == std::vector<double>{1, 1});
  CHECK_THAT(to_table(r), Contains("full") && Contains("clean shards copied back") && Contains("bit for bit"));
  CHECK(json_of(r)["rows"].size() == r.rows.size());
}

TEST_CASE("the benchmark of sharing trains adapted models over one base and over one each") {
  bench_workload adapted = tiny;
  adapted.models = 3;
  adapted.adapter_rank = 2;
  const auto r = measure_sharing({.ratios = {1}, .repeats = 2, .workload = adapted});
  REQUIRE(r.cells.size() == 2);
  for (const auto& c : r.cells) CHECK(c.over_compute.values.size() == 2);
  CHECK(r.cells[0].share);
  CHECK(r.cells[0].host < r.cells[1].host);
  CHECK_THAT(to_table(r), Contains("one each"));
  CHECK(json_of(r)["cells"].size() == 2);
}

TEST_CASE("an unknown benchmark or a number of repeats that makes no sense is refused") {
  const temporary_folder folder;
  const outcome unknown = run_hydra(folder, "bench overlab");
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("\"overlab\"") && Contains("mean \"overlap\""));
  for (const char* line : {"bench", "bench overlap --repeats 0", "bench overlap --repeats many"})
    CHECK(run_hydra(folder, line).status == 2);
}

}  // namespace hydra::apps
