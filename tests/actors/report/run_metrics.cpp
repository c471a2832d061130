#include "actors/report/run_metrics.hpp"

#include "runtime/base/log.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

using namespace hydra;
using namespace std::chrono_literals;
using hydra::test::temporary_folder;
using json = nlohmann::json;

namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

step_completed step(std::uint32_t n, float loss) {
  return {.model = model_id{0}, .name = "a \"b\"", .done = n, .of = 9, .loss = loss};
}

/// A model of 10 targets a step that is resumed.
model_entry entry(const std::string& name, std::vector<float> losses = {},
                  std::vector<evaluation_record> evaluations = {}) {
  auto what = std::make_shared<sharded_model>();
  what->name = name;
  what->steps = 9;
  what->update.learning_rate = 1;
  what->update.schedule.warmup = 2;
  what->plan.shards.emplace_back().second_spec = {{2, 5}, element::i64};
  model_entry m;
  m.what = what;
  m.standing.history.losses = std::move(losses);
  m.standing.history.evaluations = std::move(evaluations);
  return m;
}

/// The file after a run with these models has been resumed.
std::vector<std::string> continued(const std::string& text, const std::vector<model_entry>& models) {
  const temporary_folder folder;
  const auto file = folder.write(metrics_file, text);
  CHECK(run_metrics{folder.path(), models, {.goes_on = true}, make_logger(verbosity::quiet)}.close() == "");
  return lines_of(file);
}

}  // namespace

TEST_CASE("tokens are those that are not padding, counted from the step where a run is resumed as from the first") {
  const temporary_folder folder;
  auto padded = entry("a", {3.0F});
  padded.facts.tokens =
      std::make_shared<token_counts>(token_counts{{1, 2, 3, 4}, {.samples = 4, .batch_size = 2, .shuffle = false}});
  run_metrics metrics{folder.path(), {padded}, {.goes_on = true}, make_logger(verbosity::quiet)};
  metrics.step(step(2, 2.5F), *padded.what, time_point{1s});
  metrics.step(step(3, 2.5F), *padded.what, time_point{3s});
  CHECK(metrics.close() == "");
  const auto lines = lines_of(folder.path() / metrics_file);
  REQUIRE(lines.size() == 3);
  CHECK(json::parse(lines[0])["tokens"] == 3);
  CHECK(json::parse(lines[1])["tokens"] == 3 + 7);
  CHECK(json::parse(lines[2])["tokens"] == 3 + 7 + 3);
  CHECK(json::parse(lines[2])["tokens_per_s"] == 1.5);
}

TEST_CASE("a step and an evaluation are a line each, with what is known of them") {
  const temporary_folder folder;
  run_metrics metrics{folder.path(), {}, {}, make_logger(verbosity::quiet)};
  metrics.step(step(1, 2.5F), *entry("a").what, time_point{1s});
  metrics.evaluation({.model = model_id{0}, .name = "a", .done = 1, .loss = 2.25, .accuracy = 0.5});
  auto second = step(2, std::numeric_limits<float>::quiet_NaN());
  second.grad_norm = 0.75F;
  metrics.step(second, *entry("a").what, time_point{3s}, {.cost = money{12345}, .joules = 678});
  CHECK(metrics.close() == "");
  const auto lines = lines_of(folder.path() / metrics_file);
  REQUIRE(lines.size() == 3);
  auto first = json::parse(lines[0]);
  CHECK(first["time"].get<double>() > 1.7e9);
  first.erase("time");
  CHECK(first ==
        json::parse(R"({"model": "a \"b\"", "step": 1, "steps": 9, "loss": 2.5, "learning_rate": 0.5, "tokens": 10})"));
  const auto evaluation = json::parse(lines[1]);
  CHECK(evaluation["step"] == 1);
  CHECK(evaluation["validation"] == 2.25);
  CHECK(evaluation["accuracy"] == 0.5);
  const auto last = json::parse(lines[2]);
  CHECK(last["loss"].is_null());
  CHECK(last["grad_norm"] == 0.75);
  CHECK(last["cost"] == 1.2345);
  CHECK(last["joules"] == 678);
  CHECK(last["tokens"] == 20);
  CHECK(last["tokens_per_s"] == 5.0);
  CHECK(last["seconds"] == 2.0);
  CHECK(last["learning_rate"] == 1.0);
}

TEST_CASE("a resumed run removes a line that is longer than those that runs write") {
  const std::string endless = "{\"model\": \"b\", \"step\": 1, \"loss\": 3" + std::string(2 << 20, ' ') + "}\n";
  const std::string other = R"({"model": "b", "step": 2, "loss": 3})";
  CHECK((continued(endless + other, {entry("a")}) == std::vector<std::string>{other}));
}

TEST_CASE("a resumed run removes lines that its models report again, and a truncated line") {
  const std::string text = R"({"model": "a", "step": 1, "loss": 3}
{"model": "b", "step": 7, "loss": 3}
{"model": "a", "step": 2, "loss": 2}
{"model": "a", "step": 2, "validation": 2}
{"model": "a", "step": 3, "loss": 1}
{"model": "c", "step": 1, "loss": 1}
{"model": 7, "step": 1, "loss": 1}
{"model": "a", "step": 4, "lo)";
  const auto lines = continued(text, {entry("a", {3, 2}), entry("c")});
  REQUIRE(lines.size() == 3);
  CHECK(json::parse(lines[1])["model"] == "b");
  CHECK(json::parse(lines[2])["step"] == 2);
  CHECK(continued(text, {entry("a", {3, 2, 1}, {{2, 2}}), entry("c", {1})}).size() == 6);
}

TEST_CASE("lines of earlier steps that a crash has lost are written again from the model's history") {
  const auto lines = continued(R"({"model": "a", "step": 1, "loss": 3})" "\n",
                               {entry("a", {3, 2, 1}, {{2, 2.5}})});
  REQUIRE(lines.size() == 4);
  CHECK(json::parse(lines[1]) ==
        json::parse(R"({"model": "a", "step": 2, "steps": 9, "loss": 2, "learning_rate": 1.0, "tokens": 20})"));
  CHECK(json::parse(lines[2]) == json::parse(R"({"model": "a", "step": 2, "validation": 2.5})"));
  CHECK(json::parse(lines[3])["step"] == 3);
}

TEST_CASE("lines that could not be written are counted and reported with the reason") {
  const temporary_folder folder;
  auto log = make_logger(verbosity::quiet);
  log->set_level(spdlog::level::off);
  run_metrics metrics{folder.path() / "none", {}, {}, log};
  metrics.step(step(1, 2.5F), *entry("a").what, time_point{1s});
  CHECK_THAT(metrics.close(), Catch::StartsWith("metrics.jsonl lacks 1 lines: ") && Catch::Contains("No such file"));
}

TEST_CASE("TensorBoard's files have all lines, those of earlier parts of a resumed run once") {
  const temporary_folder folder;
  const auto file = folder.path() / tensorboard_folder / "a" / "events.out.tfevents.hydra";
  const auto size_after = [&](bool goes_on, std::uint32_t from, std::uint32_t past) {
    const std::vector models{entry("a", std::vector<float>(from, 3))};
    run_metrics metrics{
        folder.path(), models, {.goes_on = goes_on, .tensorboard = true}, make_logger(verbosity::quiet)};
    for (auto n = from; n < past; ++n) {
      metrics.step({.model = model_id{0}, .name = "a", .done = n + 1, .of = 9, .loss = 3}, *models[0].what,
                   time_point{1s});
    }
    CHECK(metrics.close() == "");
    return std::filesystem::file_size(file);
  };
  const auto whole = size_after(false, 0, 5);
  CHECK(size_after(false, 0, 3) < whole);
  CHECK(size_after(true, 2, 5) == whole);  // the third step is repeated
  CHECK(lines_of(folder.path() / metrics_file).size() == 5);
  CHECK(run_metrics{folder.path(), {}, {}, make_logger(verbosity::quiet)}.close() == "");
}

TEST_CASE("TensorBoard's files have all lines of earlier parts, however many there are") {
  const temporary_folder folder;
  std::string text;
  constexpr std::uint32_t steps = 60000;
  for (std::uint32_t n = 1; n <= steps; ++n) {
    text += R"({"model": "a", "loss": 3, "learning_rate": 1, "step": )" + std::to_string(n) + "}\n";
  }
  folder.write(metrics_file, text);
  const std::vector models{entry("a", std::vector<float>(steps, 3))};
  run_metrics metrics{folder.path(), models, {.goes_on = true, .tensorboard = true}, make_logger(verbosity::quiet)};
  CHECK(metrics.close() == "");
  constexpr std::size_t least = append_log_options{}.most_waiting;
  CHECK(std::filesystem::file_size(folder.path() / tensorboard_folder / "a" / "events.out.tfevents.hydra") > least);
}

TEST_CASE("each line that a run adds goes to its sink, too, as it stands in the file, those of earlier parts do not") {
  const temporary_folder folder;
  std::string told;
  const auto sink = [&](const metrics_line& line) {
    CHECK(json::parse(line.text)["model"] == line.model);
    told += line.text;
  };
  const auto earlier = entry("a", {3, 2});
  run_metrics metrics{folder.path(), {earlier}, {.goes_on = true, .sink = sink}, make_logger(verbosity::quiet)};
  metrics.step(step(3, 2.5F), *earlier.what, time_point{1s});
  metrics.evaluation({.model = model_id{0}, .name = "a", .done = 3, .loss = 2.25, .accuracy = {}});
  metrics.joined(model_id{1}, entry("b", {4}));
  CHECK(metrics.close() == "");
  const auto lines = lines_of(folder.path() / metrics_file);
  REQUIRE(lines.size() == 5);
  CHECK(told == lines[2] + "\n" + lines[3] + "\n" + lines[4] + "\n");
}

TEST_CASE("lines of a checkpoint that a model begins from go to the sink first, marked as those of before the run") {
  const temporary_folder folder;
  std::string before, added;
  const auto sink = [&](const metrics_line& line) {
    CHECK(line.model == "a");
    (line.before ? before : added) += line.text;
  };
  const auto begun = entry("a", {3, 2}, {{2, 2.5}});
  run_metrics metrics{folder.path(), {begun}, {.sink = sink}, make_logger(verbosity::quiet)};
  metrics.evaluation({.model = model_id{0}, .name = "a", .done = 3, .loss = 2.25, .accuracy = {}});
  CHECK(metrics.close() == "");
  const auto lines = lines_of(folder.path() / metrics_file);
  REQUIRE(lines.size() == 4);
  CHECK(before == lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n");
  CHECK(added == lines[3] + "\n");
}

TEST_CASE("a new run starts a new file") {
  const temporary_folder folder;
  folder.write(metrics_file, "{\"model\": \"a\", \"step\": 1}\n");
  run_metrics metrics{folder.path(), {}, {}, make_logger(verbosity::quiet)};
  CHECK(metrics.close() == "");
  CHECK(folder.files() == 0);
}
