#include "actors/report/report.hpp"

#include "actors/report/report_json.hpp"
#include "actors/report/report_table.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

using namespace hydra;
using hydra::test::temporary_folder;
using namespace std::chrono_literals;
using Catch::Contains;
using json = nlohmann::json;

namespace {

model_report finished_model() {
  model_report m;
  m.name = "gpt-a";
  m.family = "gpt2";
  m.parameters = 1234;
  m.cuts = {0, 2, 5};
  m.steps = 4;
  m.tokens = 5000;
  m.elapsed = 2s;
  m.loss = {3.5F, 3.0F, 2.5F, 2.25F};
  m.digest = "sha256:00ff";
  return m;
}

model_report failed_model() {
  model_report m;
  m.name = "gpt-with-a-long-name";
  m.status = model_status::failed;
  m.error = {fault_code::not_finite, "the loss of step 1 is nan\nstop or lower the learning rate"};
  return m;
}

device_report busy_device() {
  device_report d;
  d.name = "cpu0";
  d.kind = "cpu";
  d.speed = 0.5;
  d.busy = 9s;
  d.exposed_transfer = 500ms;
  d.h2d_bytes = byte_count{3 << 20};
  d.d2h_bytes = byte_count{1 << 20};
  d.cache_hits = 3;
  d.cache_misses = 1;
  d.saved = 1;
  d.recomputed = 3;
  d.peak = byte_count{20 << 20};
  d.budget = byte_count{24 << 20};
  return d;
}

report example() {
  report r;
  r.name = "run";
  r.seed = 7;
  r.policy = "sharded-lrtf";
  r.makespan = 10s;
  r.limits.work = 8900ms;
  r.limits.chain = 4s;
  r.usual.work = 9500ms;
  r.decisions = 42;
  r.decision_mean = 1500ns;
  r.decision_p99 = 4us;
  r.decision_wait = 20us;
  r.pilot = 1s;
  r.load = 2s;
  r.devices = {busy_device()};
  r.models = {finished_model(), failed_model()};
  r.host_peak = byte_count{100 << 20};
  r.host_budget = byte_count{512 << 20};
  r.optimizer_busy = 250ms;
  return r;
}

json parsed(const report& r) { return json::parse(to_json(r)); }

/// In alphabetical order.
std::vector<std::string> keys(const json& j) {
  std::vector<std::string> names;
  for (const auto& [key, value] : j.items()) {
    names.push_back(key);
  }
  return names;
}

/// The line of the table that contains `word`.
std::string line_with(const std::string& table, const std::string& word) {
  const auto at = table.find(word);
  REQUIRE(at != std::string::npos);
  const auto begin = table.rfind('\n', at) + 1;
  return table.substr(begin, table.find('\n', at) - begin);
}

}  // namespace

// -- report ----------------------------------------------------------------------------------------------------------

TEST_CASE("table and file report a model whose last state could not be written") {
  report r = example();
  r.models[0].unsaved = true;
  CHECK_THAT(to_table(r), Contains("finished, not saved"));
  CHECK(parsed(r)["models"][0]["status"] == "finished, not saved");
}

TEST_CASE("the larger bound counts for the efficiency", "[report]") {
  auto r = example();
  CHECK(r.bound_name() == "work");
  CHECK(r.efficiency() == Approx(0.89));
  r.limits.chain = 9500ms;
  CHECK(r.bound_name() == "chain");
  CHECK(r.efficiency() == Approx(0.95));
}

TEST_CASE("a run of no length has no efficiency", "[report]") { CHECK(report{}.efficiency() == 0.0); }

TEST_CASE("all models finished means every single one", "[report]") {
  auto r = example();
  CHECK_FALSE(r.all_finished());
  r.models.pop_back();
  CHECK(r.all_finished());
  r.models[0].status = model_status::stopped;
  CHECK_FALSE(r.all_finished());
}

// -- json ------------------------------------------------------------------------------------------------------------

TEST_CASE("report.json has the documented keys", "[report]") {
  const auto j = parsed(example());
  for (const auto* key : {"version", "name", "seed", "policy", "makespan_s", "bound_s", "bound", "efficiency", "bounds",
                          "scheduling", "pilot_s", "load_s", "devices", "host", "models", "objectives"}) {
    CHECK(j.contains(key));
  }
  CHECK(keys(j["bounds"]) ==
        std::vector<std::string>{"chain_s", "d2h_s", "h2d_s", "optimizer_s", "uniform_s", "work_s"});
  CHECK(keys(j["scheduling"]) == std::vector<std::string>{"decisions", "mean_us", "p99_us", "replaced", "waited_s"});
  CHECK(keys(j["host"]) == std::vector<std::string>{"budget_bytes", "optimizer_s", "peak_bytes"});
  CHECK(keys(j["devices"][0]) == std::vector<std::string>{"blame", "budget_bytes", "busy_s", "cache_hits",
                                                          "cache_misses", "d2h_bytes", "expense", "exposed_transfer_s",
                                                          "h2d_bytes", "kind", "name", "peak_bytes", "precision",
                                                          "recomputed_micro_batches", "reserve_bytes",
                                                          "saved_micro_batches", "speed", "utilisation"});
  CHECK(keys(j["devices"][0]["blame"]) ==
        std::vector<std::string>{"actors_s", "compute_s", "exposed_d2h_s", "exposed_h2d_s", "no_unit_s", "optimizer_s",
                                 "predecessor_s"});
  CHECK(keys(j["models"][0]) == std::vector<std::string>{"cuts", "digest", "expense", "family", "loss", "name", "parameters",
                                                         "priority", "seconds", "status", "steps", "tokens"});
}

TEST_CASE("a report says how steps were divided, and what the pipeline cost", "[report]") {
  auto r = example();
  CHECK_THAT(to_table(r), !Contains("waves") && !Contains("bubble") && !Contains("replicas"));
  r.models[0].replicas = 2;
  r.models[0].waves = 4;
  r.models[0].pipeline = {.compute = std::chrono::seconds{9}, .bubble = std::chrono::seconds{1}};
  r.devices[0].time.bubble = std::chrono::seconds{1};
  const auto j = parsed(r);
  CHECK(j["models"][0]["replicas"] == 2);
  CHECK(j["models"][0]["waves"] == 4);
  CHECK(j["models"][0]["bubble_s"] == 1);
  CHECK(j["devices"][0]["blame"]["bubble_s"] == 1);
  const auto again = report_of(j);
  CHECK(again.models[0].waves == 4);
  CHECK(bubble_share(again.models[0].pipeline) == 0.1);
  CHECK(to_table(again) == to_table(r));
  CHECK_THAT(line_with(to_table(r), "status"), Contains("tokens/s  shards  replicas  waves  bubble  status"));
  CHECK_THAT(line_with(to_table(r), r.models[0].name), Contains("4    10 %"));
  CHECK_THAT(line_with(to_table(r), "makespan of"), Contains("pipeline bubble"));
}

TEST_CASE("a report says what the run, its models and its devices have taken, and where energies are from", "[report]") {
  auto r = example();
  CHECK_THAT(to_table(r), !Contains("cost") && !Contains("energy"));
  r.grams_per_kwh = 400;
  CHECK_THAT(to_table(r), Contains("energy not known: it is neither measured nor stated\n"));
  r.spent = {.time = 20s, .cost = money{12345}, .joules = 6789};
  r.host_spent = {.cost = money{345}, .joules = 789};
  r.host_energy_source = "rapl";
  r.currency = "USD";
  r.grams_per_kwh = 400;
  r.models[0].spent = {.time = 15s, .cost = money{10000}, .joules = 5000};
  r.devices[0].spent = {.time = 20s, .cost = money{12000}, .joules = 6000};
  for (auto& d : r.devices) {
    d.energy_source = "stated";
  }
  r.devices[0].terms = {.price = 3.06, .billed = billing::used, .watts = power_draw{300, 55}};
  r.host_terms.price = 0.5;
  const auto j = parsed(r);
  CHECK(j["expense"] == json::parse(R"({"device_s": 20.0, "cost": 1.2345, "joules": 6789, "currency": "USD",
                                        "grams_per_kwh": 400.0, "carbon_g": 0.7543333333333333})"));
  CHECK(j["models"][0]["expense"]["cost"] == 1.0);
  CHECK(j["devices"][0]["expense"]["energy_source"] == "stated");
  CHECK(j["host"]["expense"]["joules"] == 789);
  CHECK(j["host"]["expense"]["price"] == 0.5);
  const auto& of_device = j["devices"][0]["expense"];
  CHECK(of_device["price"] == 3.06);
  CHECK(of_device["watts"] == json::parse(R"({"busy": 300.0, "idle": 55.0})"));
  CHECK(of_device["billing"] == "used");
  r.before = {.time = 5s, .cost = money{2345}, .joules = 789};
  r.gone = {.time = 1s, .cost = money{345}, .joules = 89};
  const auto resumed = parsed(r);
  CHECK(report_of(resumed).before == r.before);
  CHECK(resumed["expense"]["gone"]["cost"] == 0.0345);
  CHECK_THAT(to_table(report_of(resumed)), Contains("carbon 0.8 g  with its earlier parts\n"));
  CHECK_THAT(line_with(to_table(r), "its earlier parts"), Contains("0:00:05.000      0.2345        0.789"));
  CHECK_THAT(line_with(to_table(r), "models that are gone"), Contains("0:00:01.000      0.0345        0.089"));
  CHECK_FALSE(resumed["expense"].contains("incomplete"));
  r.spent_gaps = {.cost = true};
  const auto gap = parsed(r);
  CHECK(gap["expense"]["incomplete"] == json::parse(R"({"cost": true, "joules": false})"));
  CHECK(report_of(gap).spent_gaps == r.spent_gaps);
  CHECK_THAT(to_table(r), Contains("cost 1.2345 USD (not of all parts of the run)  energy 6.789 kJ (devices stated"));
  r.before = r.gone = {};
  r.spent_gaps = {};
  const auto again = report_of(j);
  CHECK(again.host_terms.price == 0.5);
  CHECK(again.devices[0].terms.price == 3.06);
  CHECK(again.devices[0].terms.watts->idle == 55);
  CHECK(again.devices[0].terms.billed == billing::used);
  CHECK(again.spent == r.spent);
  CHECK(again.models[0].spent == r.models[0].spent);
  CHECK(to_table(again) == to_table(r));
  CHECK_THAT(to_table(r), Contains("cost 1.2345 USD  energy 6.789 kJ (devices stated, host rapl)  carbon 0.8 g\n"));
  CHECK_THAT(line_with(to_table(r), "expense of"), Contains("device time  cost (USD)  energy (kJ)  energy is"));
  CHECK_THAT(line_with(to_table(r), "the run"), Contains("0:00:20.000      1.2345        6.789"));
  CHECK_THAT(line_with(to_table(r), "on the host"), Contains("0.0345        0.789  rapl"));
}

TEST_CASE("a report says into how many pieces layers were divided", "[report]") {
  auto r = example();
  CHECK_THAT(to_table(r), !Contains("pieces"));
  CHECK_FALSE(parsed(r)["models"][0].contains("pieces"));
  r.models[0].pieces = 4;
  r.models[0].side_by_side = true;
  const auto j = parsed(r);
  CHECK(j["models"][0]["pieces"] == 4);
  CHECK(report_of(j).models[0].side_by_side);
  CHECK_THAT(line_with(to_table(r), "status"), Contains("shards  ") && Contains("pieces  status"));
  CHECK_THAT(line_with(to_table(r), r.models[0].name), Contains("4 side by side"));
}

TEST_CASE("report.json has a device's kind and model, and the table its precision if it is not fp32", "[report]") {
  auto r = example();
  CHECK(parsed(r)["devices"][0]["precision"] == "fp32");
  CHECK_THAT(to_table(r), !Contains("precision"));
  r.devices[0].numbers = precision::bf16;
  r.devices[0].model = "NVIDIA H200, tf32";
  r.devices[0].reserve = byte_count{1 << 20};
  const auto j = parsed(r)["devices"][0];
  CHECK(j["precision"] == "bf16");
  CHECK(j["model"] == "NVIDIA H200, tf32");
  CHECK(j["reserve_bytes"] == 1 << 20);
  CHECK_THAT(line_with(to_table(r), "utilisation"), Contains("kind  precision  "));
  CHECK_THAT(line_with(to_table(r), "cpu0"), Contains("cpu   bf16 "));
}

TEST_CASE("report.json has validations with their known values", "[report]") {
  auto r = example();
  r.models[0].validation = {{.step = 2, .loss = 3.0},
                            {.step = 4, .loss = 2.5, .perplexity = 12.2, .accuracy = 0.25, .floor = 2.25}};
  const auto j = parsed(r)["models"][0]["validation"];
  REQUIRE(j.size() == 2);
  CHECK(keys(j[0]) == std::vector<std::string>{"loss", "step"});
  CHECK(keys(j[1]) == std::vector<std::string>{"accuracy", "floor", "loss", "perplexity", "step"});
  CHECK(j[1]["floor"] == 2.25);
}

TEST_CASE("the table ranks models by their best validation loss, next to the floor, failed ones last", "[report]") {
  auto r = example();
  r.models = {finished_model(), finished_model(), failed_model()};
  r.models[1].name = "better";
  r.models[2].validation = {{.step = 1, .loss = 2.25}};
  r.models[0].validation = {{.step = 4, .loss = 2.75, .accuracy = 0.5, .floor = 2.25}};
  r.models[1].validation = {{.step = 2, .loss = 2.5, .accuracy = 0.625, .floor = 2.25, .entropy = 2.125},
                            {.step = 3, .loss = 2.5},
                            {.step = 4, .loss = 9.0}};
  const auto table = to_table(r);
  CHECK(table.find("better") < table.find("gpt-a"));
  CHECK(table.find("gpt-a") < table.find("gpt-with-a-long-name"));
  r.models.pop_back();  // whose reason takes the place of other columns
  const auto of_finished = to_table(r);
  CHECK_THAT(line_with(of_finished, "best (step)"), Contains("best (step)    last  accuracy   floor  entropy  loss"));
  CHECK_THAT(line_with(of_finished, "better"), Contains(" 2.5000 (2)  9.0000    62.5 %  2.2500   2.1250  3.5000"));
}

TEST_CASE("evaluations that are not finite are never the best one", "[report]") {
  model_report m;
  CHECK(best_validation(m) == nullptr);
  m.validation = {{.step = 1, .loss = std::numeric_limits<double>::quiet_NaN()}};
  CHECK(best_validation(m) == nullptr);
  CHECK(best_cell(m) == "-");
  m.validation.push_back({.step = 2, .loss = 3});
  m.validation.push_back({.step = 3, .loss = 3});
  REQUIRE(best_validation(m) != nullptr);
  CHECK(best_cell(m) == "3.0000 (2)");
}

TEST_CASE("a stopped model says what has stopped it", "[report]") {
  model_report m;
  m.status = model_status::stopped;
  CHECK(outcome(m) == "stopped");
  m.reason = "no better for 3 evaluations";
  m.unsaved = true;
  CHECK(outcome(m) == "stopped: no better for 3 evaluations, not saved");
}

TEST_CASE("the result of a run is its models, and its makespan next to the bound with the largest gap", "[report]") {
  auto r = example();
  r.devices[0].time = {.compute = 9s, .exposed_d2h = 1s};
  const auto result = to_result(r, {});
  CHECK_THAT(result, Catch::StartsWith("model                 loss              steps  tokens/s  status\n") &&
                         Catch::EndsWith("\nmakespan 10.000 s  bound 8.900 s (work)  efficiency 89 %  "
                                         "largest gap 10 %: waits for copies to the host\n"));
  for (const auto* counted : {"shards", "utilisation", "makespan of", "bounds", "policy"}) {
    CHECK_THAT(result, !Contains(counted));
    CHECK_THAT(to_table(r), Contains(counted));
  }
  CHECK_THAT(result, !Contains("deadlines"));
  r.models[0].completed = 8s;
  r.models[0].deadline = 7s;
  CHECK_THAT(to_result(r, {}), Contains("1 of 1 deadlines missed"));
}

TEST_CASE("no line of the tables is wider than a terminal", "[report]") {
  auto r = example();
  r.models[0].validation = {{.step = 2, .loss = 2.5, .perplexity = 12.5, .accuracy = 0.5, .floor = 2.25, .entropy = 2},
                            {.step = 4, .loss = 2.75}};
  r.models[0].replicas = 2;
  r.models[0].waves = 4;
  const auto table = to_table(r);
  for (std::size_t begin = 0, end = 0; (end = table.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(end - begin <= 120);
  }
}

TEST_CASE("report.json has arrival, completion and deadline of a model", "[report]") {
  auto r = example();
  r.models[0].priority = 2.5;
  r.models[0].arrival = 3s;
  r.models[0].deadline = 9s;
  r.models[0].completed = 8s;
  const auto j = parsed(r);
  CHECK(j["models"][0]["priority"] == 2.5);
  CHECK(j["models"][0]["arrival_s"] == 3.0);
  CHECK(j["models"][0]["deadline_s"] == 9.0);
  CHECK(j["models"][0]["completed_s"] == 8.0);
  CHECK(keys(j["objectives"]) ==
        std::vector<std::string>{"left_out", "mean_completion_s", "missed_deadlines", "weighted_completion_s"});
  CHECK(j["objectives"]["mean_completion_s"] == 5.0);
  CHECK(j["objectives"]["left_out"] == 1);
  CHECK_FALSE(j["models"][1].contains("completed_s"));
}

TEST_CASE("the table has one line about completions, if any model is complete", "[report]") {
  auto r = example();
  CHECK_THAT(to_table(r), !Contains("completion"));
  r.models[0].completed = 8s;
  CHECK_THAT(to_table(r), Contains("\ncompletion mean 8.000 s, weighted 8.000 s (1 model left out: not complete)\n"));
  r.models[0].deadline = 7s;
  r.models.pop_back();
  CHECK_THAT(to_table(r), Contains("\ncompletion mean 8.000 s, weighted 8.000 s, 1 of 1 deadlines missed\n"));
}

TEST_CASE("report.json starts with what a reader looks for first", "[report]") {
  CHECK_THAT(to_json(example()), Catch::StartsWith("{\n  \"version\": ") && Contains("\"run\",\n  \"seed\": 7,\n"));
}

TEST_CASE("report.json gives seconds, microseconds and bytes as plain numbers", "[report]") {
  const auto j = parsed(example());
  CHECK(j["makespan_s"] == 10.0);
  CHECK(j["bound_s"] == 8.9);
  CHECK(j["bound"] == "work");
  CHECK(j["bounds"]["chain_s"] == 4.0);
  CHECK(j["pilot_s"] == 1.0);
  CHECK(j["load_s"] == 2.0);
  CHECK(j["scheduling"]["mean_us"].get<double>() == Approx(1.5));
  CHECK(j["scheduling"]["p99_us"].get<double>() == Approx(4.0));
  CHECK(j["scheduling"]["waited_s"].get<double>() == Approx(2e-5));
  CHECK(j["devices"][0]["utilisation"] == 0.9);
  CHECK(j["devices"][0]["h2d_bytes"] == 3 << 20);
  CHECK(j["devices"][0]["peak_bytes"] == 20 << 20);
  CHECK(j["host"]["optimizer_s"] == 0.25);
  CHECK(j["models"][0]["seconds"] == 2.0);
}

TEST_CASE("report.json keeps the order of the models and every step's loss", "[report]") {
  const auto j = parsed(example());
  CHECK(j["models"][0]["name"] == "gpt-a");
  CHECK(j["models"][1]["name"] == "gpt-with-a-long-name");
  CHECK(j["models"][0]["loss"] == json{3.5, 3.0, 2.5, 2.25});
  CHECK(j["models"][0]["cuts"] == json{0, 2, 5});
}

TEST_CASE("report.json names the fault of a failed model only", "[report]") {
  const auto j = parsed(example());
  CHECK_FALSE(j["models"][0].contains("fault"));
  CHECK(j["models"][1]["status"] == "failed");
  CHECK(j["models"][1]["fault"]["code"] == "not finite");
  CHECK_THAT(j["models"][1]["fault"]["text"].get<std::string>(), Contains("the loss of step 1 is nan"));
}

TEST_CASE("report.json omits what does not exist", "[report]") {
  auto r = example();
  r.models[0].digest.clear();
  CHECK_FALSE(parsed(r)["models"][0].contains("digest"));
  CHECK_FALSE(parsed(r)["models"][0].contains("grad_norm"));
  CHECK_FALSE(parsed(r)["devices"][0].contains("lost"));
  r.models[0].grad_norm = {1.0F, 0.5F};
  r.devices[0].lost = true;
  r.devices[0].reason = "it is silent";
  CHECK(parsed(r)["models"][0]["grad_norm"] == json{1.0, 0.5});
  CHECK(parsed(r)["devices"][0]["lost"] == true);
  CHECK(parsed(r)["devices"][0]["reason"] == "it is silent");
}

TEST_CASE("report.json has the reason why callbacks were given up, if they were", "[report]") {
  report r;
  CHECK_FALSE(json::parse(to_json(r)).contains("callbacks_lost"));
  r.callbacks_lost = "a callback failed after step 3 of a: no";
  CHECK(json::parse(to_json(r))["callbacks_lost"] == r.callbacks_lost);
}

TEST_CASE("numbers that JSON does not have become null", "[report]") {
  auto r = example();
  r.models[0].loss = {1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  CHECK(parsed(r)["models"][0]["loss"] == json{1.0, nullptr, nullptr});
}

TEST_CASE("a text that is not UTF-8 does not prevent the report", "[report]") {
  auto r = example();
  r.models[1].error.text = "bad \xff byte";
  CHECK_THAT(parsed(r)["models"][1]["fault"]["text"].get<std::string>(), Contains("bad "));
}

TEST_CASE("report.json is written as a whole, over an older one", "[report]") {
  const temporary_folder folder;
  const auto file = folder.path() / "report.json";
  std::ofstream{file} << "old";
  write_report(example(), file);
  CHECK(json::parse(std::ifstream{file}) == parsed(example()));
  CHECK(folder.files() == 1);
}

TEST_CASE("a report that cannot be written is an input/output fault with the file's name", "[report]") {
  const temporary_folder folder;
  try {
    write_report(example(), folder.path() / "missing" / "report.json");
    FAIL("was written");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::io);
    CHECK_THAT(e.what(), Contains("report.json"));
  }
}

// -- table -----------------------------------------------------------------------------------------------------------

TEST_CASE("the table shows each model's losses, steps, speed, shards and status", "[report]") {
  const auto table = to_table(example());
  const auto line = line_with(table, "gpt-a");
  for (const auto* cell : {" 3 ", " 4 ", "3.5000 -> 2.2500", "2500", "finished"}) {
    CHECK_THAT(line, Contains(cell));
  }
}

TEST_CASE("the table gives a failed model's reason in its line", "[report]") {
  const auto line = line_with(to_table(example()), "gpt-with-a-long-name");
  CHECK_THAT(line, Contains("failed: not finite: the loss of step 1 is nan stop "));
  CHECK_THAT(line, Contains(" -  "));
  CHECK_THAT(to_table(example()), Contains(" lower the learning rate\n"));
}

TEST_CASE("the table shows what each device did", "[report]") {
  const auto line = line_with(to_table(example()), "cpu0");
  for (const auto* cell : {"90 %", "9.000 s", "500.0 ms", "3.0 MiB", "1.0 MiB", "75 %", "20.0 MiB / 24.0 MiB"}) {
    CHECK_THAT(line, Contains(cell));
  }
  CHECK_THAT(line, !Contains("lost"));
}

TEST_CASE("the table marks a lost device", "[report]") {
  auto r = example();
  r.devices[0].lost = true;
  CHECK_THAT(line_with(to_table(r), "cpu0"), Contains("lost"));
}

TEST_CASE("the table ends with the makespan next to its bound", "[report]") {
  const auto table = to_table(example());
  CHECK_THAT(table, Catch::EndsWith("makespan 10.000 s  bound 8.900 s (work)  efficiency 89 %\n"  // all parts are 0
                                    "at mean times of units  9.500 s (work)  95 % of the makespan\n"));
  CHECK_THAT(table, Contains("bounds  work 8.900 s  chain 4.000 s  uniform "));
  CHECK_THAT(table, Contains("policy sharded-lrtf  decisions 42  mean 1.50 us  p99 4.00 us  waited for 20 us\n"));
  CHECK_THAT(table, Contains("host 100.0 MiB / 512.0 MiB  optimizer 250.0 ms\n"));
}

TEST_CASE("the columns of the table are aligned", "[report]") {
  const auto table = to_table(example());
  CHECK(line_with(table, "status").find("status") == line_with(table, "gpt-a").find("finished"));
  CHECK(line_with(table, "gpt-with").find("failed") == line_with(table, "gpt-a").find("finished"));
}

TEST_CASE("an empty report can be printed", "[report]") {
  CHECK_THAT(to_table(report{}), Contains("makespan 0 ns"));
  CHECK(parsed(report{})["models"].empty());
}

TEST_CASE("the peak of the whole process is next to that of the host budget, if it is known", "[report]") {
  auto r = example();
  CHECK_FALSE(parsed(r)["host"].contains("process_peak_bytes"));
  r.process_peak = byte_count{700 << 20};
  r.trace = byte_count{64 << 20};
  const auto host = parsed(r)["host"];
  CHECK(host["process_peak_bytes"] == 700 << 20);
  CHECK(host["trace_bytes"] == 64 << 20);
  CHECK_THAT(to_table(r), Contains("host 100.0 MiB / 512.0 MiB  process 700.0 MiB  optimizer 250.0 ms\n"));
}
