#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/places.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;

namespace {

const std::string instances = HYDRA_SOURCE_DIR "/apps/instances/";
const std::string reference_results = HYDRA_SOURCE_DIR "/tests/actors/simulation/reference.json";

/// Nothing printed, nothing written.
void check_no_simulation(const temporary_folder& folder, const std::string& arguments, const std::string& answer) {
  const outcome o = run_hydra(folder, "simulate " + arguments);
  INFO(arguments << "\n" << o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, StartsWith(answer));
}

json simulated(const temporary_folder& folder, const std::string& arguments) {
  const outcome o = run_hydra(folder, "simulate --json " + arguments);
  INFO(arguments << "\n" << o.err);
  REQUIRE(o.status == 0);
  CHECK(o.err.empty());
  return json::parse(o.out);
}

/// The keys that scripts depend on.
void check_rows(const json& j) {
  REQUIRE(j.at("rows").size() > 0);
  for (const json& row : j["rows"]) {
    for (const char* key : {"makespan_us", "bound_us", "ratio", "compute_end_us", "loads", "hits", "decisions"})
      CHECK(row.at(key).is_number());
    CHECK(row.at("policy").is_string());
    CHECK(row["bound_us"] == j.at("bounds_us").at(row.at("bound").get<std::string>()));
    CHECK(row["ratio"].get<double>() == Approx(row["makespan_us"].get<double>() / row["bound_us"].get<double>()));
    CHECK(row["ratio"] >= 1);
    CHECK(row["compute_end_us"] <= row["makespan_us"]);
  }
}

}  // namespace

TEST_CASE("an instance run by the loop gives the makespans of an independent simulator, to the nanosecond") {
  const temporary_folder folder;
  const json expected = json::parse(folder.read(reference_results))["instances"]["rho1-k3"];
  std::string known;
  for (const auto& [name, unused] : expected.at("policies").items()) 
    if (name != "random") known += (known.empty() ? "" : ",") + name;
  const json j = simulated(folder, instances + "rho1-k3.json --driver loop --policies \"" + known + "\"");
  check_rows(j);
  CHECK(j["name"] == "rho1-k3");
  CHECK(j["bounds_us"]["staged_chain"] == expected["bounds"]["staged_chain"]);
  CHECK(j["rows"].size() >= 11);
  for (const json& row : j["rows"]) {
    INFO(row);
    CHECK(row["makespan_us"] == expected["policies"][row["policy"].get<std::string>()]["makespan"]);
    CHECK(row["loads"] == expected["policies"][row["policy"].get<std::string>()]["loads"]);
  }
}

TEST_CASE("an instance is run by the actors unless the loop is asked for") {
  const temporary_folder folder;
  const json j = simulated(folder, instances + "few-1x2.json --policies sharded-lrtf,fifo");
  check_rows(j);
  CHECK(j["rows"].size() == 2);
  CHECK(j["rows"][1]["policy"] == "fifo");
  CHECK_FALSE(j["bounds_us"].contains("staged_chain"));
}

TEST_CASE("the table has a row for each policy and the bounds in a line") {
  const temporary_folder folder;
  const outcome o = run_hydra(folder, "simulate " + instances + "few-1x2.json --driver loop");
  CHECK(o.status == 0);
  CHECK_THAT(o.out,
             Contains("sharded-lrtf") && Contains("band-hold") && Contains("bounds: work ") && Contains("best: chain"));
  CHECK_THAT(o.out, !Contains("\nrandom"));
  CHECK_THAT(run_hydra(folder, "simulate --policies all --driver loop " + instances + "few-1x2.json").out,
             Contains("\nrandom"));
}

TEST_CASE("the optimum of a small instance is a row like others, which says that it is proven") {
  const temporary_folder folder;
  const std::string options = instances + "coarse-3x2.json --driver loop --policies exact,fifo";
  const json j = simulated(folder, options);
  check_rows(j);
  CHECK(j["rows"][0]["policy"] == "exact");
  CHECK(j["rows"][0]["makespan_us"] == 168'000);
  CHECK(j["rows"][0]["proven"] == true);
  CHECK_FALSE(j["rows"][1].contains("proven"));
  CHECK_THAT(run_hydra(folder, "simulate " + options).out, Contains("\nexact (proven) "));
}

TEST_CASE("a generated instance can be saved and simulated again with the same result") {
  const temporary_folder folder;
  const std::string options = " --driver loop --policies lla,whole-model";
  const json made =
      simulated(folder, "--generate hetero:models=3,devices=2,rho=0.5,seed=9,length=0.1 --save i.json" + options);
  check_rows(made);
  CHECK(simulated(folder, "i.json" + options) == made);
  check_no_simulation(folder, "--generate equal --save i.json", "--save i.json: exists and is not overwritten");
}

TEST_CASE("completions are shown if models arrive later or have priorities") {
  const temporary_folder folder;
  const json j =
      simulated(folder, "--generate equal:models=4,devices=2,arrivals=1,length=0.1 --driver loop --policies srtf");
  CHECK(j["rows"][0]["mean_completion_us"] < j["rows"][0]["makespan_us"]);
  CHECK(j["rows"][0]["weighted_completion_us"].is_number());
  const outcome o =
      run_hydra(folder, "simulate --generate equal:models=4,devices=2,arrivals=1,length=0.1 --driver loop");
  CHECK_THAT(o.out, Contains("mean completion") && !Contains("missed"));
}

TEST_CASE("deadlines that are missed, and by how much, are shown if models have some") {
  const temporary_folder folder;
  const std::string recipe = "--generate hetero:models=6,devices=2,deadlines=1.5,length=0.1 --driver loop --policies ";
  const json j = simulated(folder, recipe + "srtf,sharded-lrtf");
  for (const json& row : j["rows"]) {
    CHECK(row["deadlines"] == 6);
    CHECK(row["missed_deadlines"] > 0);
    CHECK(row["missed_deadlines"] <= 6);
    CHECK(row["mean_tardiness_us"] > 0);
  }
  CHECK_THAT(run_hydra(folder, "simulate " + recipe + "srtf").out, Contains("missed") && Contains(" of 6"));
}

TEST_CASE("cost and energy are shown if the devices of an instance have prices or watts") {
  const temporary_folder folder;
  REQUIRE(run_hydra(folder, "simulate --generate equal:models=4,devices=2,length=0.1 --driver loop --policies fifo "
                            "--save i.json").status == 0);
  std::string text = folder.read("i.json");
  const std::string device = "{\"speed\": 1.0";
  for (std::size_t at = 0; (at = text.find(device, at)) != std::string::npos; at += device.size())
    text.insert(at + device.size(), R"(, "price": 3600, "watts": {"busy": 100, "idle": 100})");
  folder.write("priced.json", text);
  const json row = simulated(folder, "priced.json --driver loop --policies fifo")["rows"][0];
  const double makespan = row["makespan_us"].get<double>() / 1e6;
  CHECK(row["cost"].get<double>() == Approx(2 * makespan).margin(2e-4));
  CHECK(row["joules"].get<double>() == Approx(200 * makespan).margin(2));
  CHECK_THAT(run_hydra(folder, "simulate priced.json --policies fifo").out, Contains("cost  energy (kJ)"));
  folder.write("s.toml", "policies = [\"fifo\"]\n[[cell]]\nname = \"priced\"\nfiles = [\"priced.json\"]\n");
  REQUIRE(run_hydra(folder, "study s.toml").status == 0);
  CHECK_THAT(folder.read("studies/s/study.csv"),
             Contains(fmt::format(",,,,,{:.4f},{}\n", row["cost"].get<double>(), row["joules"].get<int>())));
}

TEST_CASE("a workload is simulated with one pilot for all policies, or with a saved plan's times and none") {
  const temporary_folder folder;
  folder.write("w.toml", example + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n");
  REQUIRE(run_hydra(folder, "plan w.toml --save plan.json").status == 0);
  const json j = simulated(folder, "w.toml --plan plan.json --policies sharded-lrtf,fifo,whole-model");
  check_rows(j);
  CHECK(j["name"] == "w");
  CHECK(j["rows"].size() == 3);
  CHECK_THAT(run_hydra(folder, "simulate w.toml --set model.steps=5").out, Contains("2 models, 1 device;"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_CASE("a workload is simulated on the first of some nodes, on the first two, and so on") {
  const temporary_folder folder;
  folder.write("w.toml", example + "[model.grid]\nlearning_rate = [1e-3, 3e-4, 1e-4, 3e-5]\n");
  REQUIRE(run_hydra(folder, "plan w.toml --save plan.json").status == 0);
  const json j = simulated(folder, "w.toml --plan plan.json --policies fifo --nodes 1,1 --link 1GB/s");
  REQUIRE(j["nodes"].size() == 2);
  CHECK(j["nodes"][0]["speeds"] == json::array({1.0}));
  CHECK(j["nodes"][0]["makespan_s"] >= j["nodes"][0]["bound_s"]);
  CHECK(j["nodes"][1]["makespan_s"].get<double>() < 0.7 * j["nodes"][0]["makespan_s"].get<double>());
  CHECK_FALSE(simulated(folder, "w.toml --plan plan.json --policies fifo").contains("nodes"));
  CHECK_THAT(run_hydra(folder, "simulate w.toml --policies fifo --nodes 1,0.5").out, Contains("their speeds"));
}

TEST_CASE("that a simulation trains all trials of a search to their end is said") {
  const temporary_folder folder;
  folder.write("w.toml", example + "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\n" +
                             "[search.space]\nlearning_rate = { log_uniform = [1e-4, 1e-2] }\n");
  CHECK_THAT(run_hydra(folder, "simulate w.toml --policies fifo").out,
             Contains("search halving: 4 trials") && Contains("those of all models to their end"));
  CHECK(simulated(folder, "w.toml --policies fifo")["notes"].size() == 1);
}

TEST_CASE("a run is simulated with the times that it has recorded, and compared with what it took") {
  const temporary_folder folder;
  folder.write("w.toml", bent("memory = \"24MiB\"", "memory = \"24MiB\"\nprice = 36e4") +
                             "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n[host]\nprice = 36e4\n");
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const json j = simulated(folder, "runs/w/trace.json");
  CHECK(j["rows"][0]["cost"].get<double>() == Approx(j["rows"][0]["makespan_us"].get<double>() * 200 / 1e6).margin(1e-3));
  CHECK(j["rows"].size() == 1);
  const json report = json::parse(folder.read("runs/w/report.json"));
  CHECK(j["rows"][0]["policy"] == report["policy"]);
  CHECK(j["measured_us"].get<double>() == Approx(report["makespan_s"].get<double>() * 1e6).epsilon(1e-3));
  CHECK(j["rows"][0]["makespan_us"] <= j["measured_us"].get<double>() * 1.05);
  CHECK(j["rows"][0]["loads"].get<int>() + j["rows"][0]["hits"].get<int>() ==
        report["devices"][0]["cache_hits"].get<int>() + report["devices"][0]["cache_misses"].get<int>());
  CHECK_THAT(run_hydra(folder, "simulate runs/w --policies fifo,whole-model").out,
             Contains("the run took ") && Contains("whole-model"));
}

TEST_CASE("a run is simulated with the memory that its blocks could use of a device, which is not all of its budget") {
  const temporary_folder folder;
  folder.write("w.toml",
               bent("steps = 3", "steps = 3\ncuts = [0, 1, 2, 3]") + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n");
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const int loads = simulated(folder, "runs/w --policies fifo")["rows"][0]["loads"];
  json report = json::parse(folder.read("runs/w/report.json"));
  const json plan = json::parse(folder.read("runs/w/plan.json"));
  CHECK(report["devices"][0]["reserve_bytes"] == 0);
  report["devices"][0]["reserve_bytes"] = report["devices"][0]["budget_bytes"].get<std::uint64_t>() -
                                          plan["staging_room_bytes"].get<std::uint64_t>() -
                                          plan["computing_room_bytes"].get<std::uint64_t>();
  folder.write("runs/w/report.json", report.dump());
  CHECK(simulated(folder, "runs/w --policies fifo")["rows"][0]["loads"] > loads);
}

TEST_CASE("what cannot be simulated is refused, by file and key") {
  const temporary_folder folder;
  folder.write("cut.json", "{\"format\": \"schedule-inst");
  folder.write("w.toml", example);
  check_no_simulation(folder, "", "either a file (workload, instance, run) or --generate is expected");
  check_no_simulation(folder, "w.toml --generate equal", "either a file (workload, instance, run) or --generate");
  check_no_simulation(folder, "none.json", "none.json: no such file");
  check_no_simulation(folder, "none.toml", "none.toml");
  check_no_simulation(folder, "cut.json", "cut.json: not valid JSON at byte ");
  check_no_simulation(folder, reference_results, reference_results + ": format: ");
  check_no_simulation(folder, instances, instances + "report.json: no such file");
  check_no_simulation(folder, "w.toml --driver loop", "--driver loop runs instances");
  check_no_simulation(folder, "w.toml --nodes 1,fast", "--nodes 1,fast: \"fast\" is not a speed");
  check_no_simulation(folder, "w.toml --nodes 1,0", "--nodes 1,0: \"0\" is not a speed");
  check_no_simulation(folder, "w.toml --nodes 1 --link 0B/s", "--link: 0 is not a rate; such as 125MB/s");
  check_no_simulation(folder, "w.toml --nodes ''", "--nodes: no speed is given");
  check_no_simulation(folder, "w.toml --nodes 1 --link 10Gbit/s", "--link: \"10Gbit/s\"");
  check_no_simulation(folder, "w.toml --link 1GB/s", "--link is the network between --nodes");
  check_no_simulation(folder, instances + "few-1x2.json --nodes 1", "--nodes predicts a run of a workload file");
  check_no_simulation(folder, instances + "few-1x2.json --driver both", "--driver: \"both\"");
  check_no_simulation(folder, instances + "few-1x2.json --completion ended", "--completion ended needs --driver loop");
  check_no_simulation(folder, instances + "few-1x2.json --plan p.json", "--plan and --set change a workload file");
  check_no_simulation(folder, instances + "few-1x2.json --policies fifo,bandhold",
                      "there is no policy \"bandhold\"; did you mean");
  check_no_simulation(folder, instances + "coarse-3x2.json --policies exact", "exact is searched where units are");
  check_no_simulation(folder, instances + "few-1x1.json --driver loop --policies exact", "exact: few-1x1 has 570 units");
  check_no_simulation(folder, "w.toml --policies exact", "exact searches small instances");
  check_no_simulation(folder, "--generate heterro",
                      "--generate: family: there is no \"heterro\"; did you mean \"hetero\"?");
  check_no_simulation(folder, "--generate hetero:modles=3",
                      "--generate: modles: unknown key; did you mean \"models\"?");
  check_no_simulation(folder, "--generate hetero:models=0", "--generate: models: 0 is given");
  check_no_simulation(folder, "--generate hetero:models", "--generate: models: KEY=VALUE is expected");
  check_no_simulation(folder, "--generate hetero:rho=1,rho=2", "--generate: rho: is given twice");
  check_no_simulation(folder, "--generate hetero:devices=3,speeds=4x1", "--generate: devices: 3 is given");
  check_no_simulation(folder, "--generate equal --policies fifo,lla,fifo", "policies: \"fifo\" is given twice");
  check_no_simulation(
      folder, "--generate equal --policies 'band-hold(critical_units=1,critical_units=2)'",
      "policies: \"band-hold(critical_units=1,critical_units=2)\" gives the option critical_units twice");
  check_no_simulation(folder, "--generate hetero:speeds=4y1", "--generate: speeds: \"4y1\"");
  check_no_simulation(folder, "--generate hetero:devices=2,failures=2",
                      "--generate: hetero:devices=2,failures=2: failures: 2");
}

}  // namespace hydra::apps
