#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;

namespace {

outcome plan(const temporary_folder& folder, const std::string& text, const std::string& options = "") {
  folder.write("w.toml", text);
  return run_hydra(folder, "plan w.toml " + options);
}

const std::string grid = "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n";

}  // namespace

TEST_CASE("a plan is printed with layers, shards, budgets and what the run would take; nothing is made") {
  const temporary_folder folder;
  const outcome o = plan(folder, example + grid);
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK_THAT(o.out, Contains("gpt-1e-3, gpt-3e-4") && Contains("layers") && Contains("shard") &&
                        Contains("smallest sufficient memory") && Contains("predicted makespan"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_CASE("a value that a grid replaces is noted by a plan, and at the start of a run") {
  const temporary_folder folder;
  const std::string note =
      "w.toml:17: model.optimizer.learning_rate: is not used, because the grid varies it at w.toml:19";
  CHECK_THAT(plan(folder, example + grid).out, Contains("notes:\n  " + note + "\n"));
  const outcome trained = run_hydra(folder, "train w.toml");
  CHECK(trained.status == 0);
  CHECK_THAT(trained.err, Contains("note: " + note + "\n"));
}

TEST_CASE("what fits no device is refused with what its layers would need in pieces, if they can be divided") {
  const temporary_folder folder;
  const std::string large = bent("width = 8, heads = 2, context = 4", "width = 64, heads = 4, context = 4");
  const auto planned = [&](const std::string& memory, const std::string& options) {
    return plan(folder, large, "--set device.memory=" + memory + options);
  };
  const outcome o = planned("100KiB", "");
  CHECK(o.status == 3);
  CHECK_THAT(o.err, Contains("divide layers (model.parallel.pieces: hydra plan says into how many)") &&
                        Contains("with gpt in pieces, as all models that can be divided so") &&
                        Contains("pieces  smallest memory") && !Contains("\n     8 "));  // 4 heads
  std::istringstream lines{o.err.substr(o.err.find("smallest memory\n"))};
  std::string line, unit;
  std::getline(lines, line);
  for (const int pieces : {1, 2, 4}) {
    int found = 0;
    double number = 0;
    lines >> found >> number >> unit;
    CHECK(found == pieces);
    std::getline(lines, line);
    INFO(number << " " << unit << " for " << pieces);
    const std::string with = " --set model.parallel.pieces=" + std::to_string(pieces);
    CHECK(planned(std::to_string(number + 0.1) + unit, with).status == 0);
    CHECK(planned(std::to_string(number - 0.2) + unit, with).status == 3);
  }
  for (const char* const other : {"optimizer.kind=muon", "loss_chunk=2", "adapter={kind=\"lora\",rank=2}"}) {
    const std::string err = planned("20KiB", std::string{" --set 'model."} + other + "'").err;
    CHECK_THAT(err, Contains("does not fit") && !Contains("pieces"));
    const std::string open = std::string{" --set 'model."} + other + "' --set 'model.parallel.pieces=\"auto\"'";
    CHECK_THAT(planned("20KiB", open).err, Contains("Layers stay whole, in spite of pieces = \"auto\": model 'gpt'"));
  }
  const outcome of_grid = plan(folder, large + grid, "--set device.memory=100KiB");
  CHECK(of_grid.err.substr(of_grid.err.find("smallest memory\n")) == o.err.substr(o.err.find("smallest memory\n")));
}

TEST_CASE("tables of a plan are at most 120 columns wide, also where layers have many options") {
  const temporary_folder folder;
  const outcome o =
      plan(folder, bent("family = \"gpt2\"", "family = \"llama\", hidden = 16") + "adapter = { rank = 2 }\n");
  CAPTURE(o.err, o.out);
  CHECK_THAT(o.out, Contains("1-2  llama block   "));
  std::istringstream lines{o.out};
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
}

TEST_CASE("a plan says what steps in parallel would bring, unless there is nothing to divide or no second device") {
  const temporary_folder folder;
  const std::string halves = bent("steps = 3", "steps = 3\nmicro_batches = 2"), two = "count = 2\nmemory";
  CHECK_THAT(plan(folder, halves).out, !Contains("steps in parallel"));
  CHECK_THAT(plan(folder, bent("memory", two)).out, !Contains("steps in parallel"));
  std::string both = halves;
  both.replace(both.find("memory"), 6, two);
  CHECK_THAT(plan(folder, both).out, Contains("steps in parallel") && Contains("as it is") &&
                                         Contains("other results") && Contains("same results") && Contains(" KiB"));
  CHECK_THAT(plan(folder, both + "parallel = { waves = 2 }\n").out,
             Contains("micro-batches 2 in 1 replica and 2 waves of each"));
  const auto simulated = run_hydra(folder, "simulate w.toml --policies fifo --json");
  CHECK(json::parse(simulated.out)["parallel"].size() == 5);
  const auto ways = json::parse(plan(folder, both, "--json").out)["parallel"];
  REQUIRE(ways.size() == 5);
  CHECK(ways[0]["replicas"] == 1);
  CHECK(ways[1]["replicas"] == 2);
  CHECK(ways[1]["host_bytes"] > 0);
  CHECK(ways[1]["same_results"] == false);
  CHECK(ways[2]["waves"] == 2);
  CHECK(ways[2]["same_results"] == true);
  CHECK(ways[2]["shards"] == ways[0]["shards"]);
  CHECK(ways[3]["waves"] == 2);
  CHECK(ways[3]["shards"] > ways[2]["shards"]);
  CHECK(ways[4]["shards"] > ways[3]["shards"]);
}

namespace {

/// A fast device and a slow one, which cost as much: the fast one alone is cheaper.
std::string priced(const std::string& goal) {
  const std::string device = "kind = \"cpu\"\nmemory = \"24MiB\"\nprice = 1000\nwatts = { busy = 300, idle = 50 }\n";
  const std::string text = bent("kind = \"cpu\"\nmemory = \"24MiB\"\n", device + "[[device]]\nspeed = 0.01\n" + device);
  return std::string{text}.replace(text.find("seed = 7"), 8, "seed = 7\ncurrency = \"USD\"\n" + goal);
}

}  // namespace

TEST_CASE("a plan says what the run will cost, and on which devices it would cost less") {
  const temporary_folder folder;
  const outcome o = plan(folder, priced(""));
  CHECK(o.status == 0);
  CHECK_THAT(o.out,
             Contains("\ncost ") && Contains(" USD  energy ") && Contains("cpu:0, cpu:1 ") && Contains("\ncpu:0 "));
  CHECK_THAT(o.out, Contains("cost (USD)") && Contains("--rehearse 6 measures whole steps"));
  const json j = json::parse(plan(folder, priced(""), "--json").out);
  CHECK(j["predicted"]["cost"] > 0);
  CHECK(j["currency"] == "USD");
  REQUIRE(j["device_choices"].size() == 3);
  CHECK(j["devices"].size() == 2);
  CHECK_THAT(plan(folder, example).out, !Contains("\ncost "));
}

TEST_CASE("a run with a goal uses the devices that meet it, says which, and has the same results; resumed, it goes on so") {
  const temporary_folder folder;
  folder.write("w.toml", priced("objective = \"cost\"\n"));
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 0);
  CHECK_THAT(o.err, Contains("least cost: the run uses cpu:0 and is expected to take "));
  const json r = json::parse(folder.read("runs/w/report.json"));
  REQUIRE(r["devices"].size() == 1);
  CHECK(r["devices"][0]["speed"] == 1);
  CHECK(r["expense"]["currency"] == "USD");
  CHECK(r["models"][0]["expense"]["cost"] == r["expense"]["cost"]);
  CHECK_THAT(r["notes"].dump(), Contains("least cost: the run uses cpu:0"));
  folder.write("all.toml", priced(""));
  REQUIRE(run_hydra(folder, "train all.toml").status == 0);
  CHECK(json::parse(folder.read("runs/all/report.json"))["models"][0]["digest"] == r["models"][0]["digest"]);
  const outcome resumed = run_hydra(folder, "train w.toml --resume --set model.steps=5");
  REQUIRE(resumed.status == 0);
  CHECK_THAT(resumed.err, Contains("the run uses the devices that it chose when it began: cpu:0"));
  CHECK_THAT(resumed.out, Contains("  with its earlier parts\n"));
  const json again = json::parse(folder.read("runs/w/report.json"));
  CHECK(again["expense"]["before"]["cost"] == r["expense"]["cost"]);
  CHECK(again["expense"]["cost"] > r["expense"]["cost"]);
  CHECK(again["models"][0]["expense"]["cost"] == again["expense"]["cost"]);
  std::filesystem::remove(folder.path() / "runs/w/report.json");  // as of a run that was killed
  CHECK_THAT(run_hydra(folder, "report runs/w").out, Contains("\ncost ") && Contains(" USD  energy "));
  const outcome in_euro = run_hydra(folder, "train w.toml --resume --set model.steps=6 --set run.currency=EUR");
  CHECK_THAT(in_euro.err, Contains("USD of earlier parts of the run cannot be added to EUR"));
  CHECK_THAT(in_euro.out, Contains(" EUR (not of all parts of the run)  energy "));
}

TEST_CASE("a model that begins from the checkpoint of another run begins a run: its goal counts") {
  const temporary_folder folder;
  folder.write("first.toml", example);
  REQUIRE(run_hydra(folder, "train first.toml --quiet").status == 0);
  std::string state;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "runs/first/checkpoints/gpt"))
    if (entry.path().filename().string().ends_with("-step-3")) state = entry.path().string();
  std::string text = priced("objective = \"cost\"\n");
  text.replace(text.find("steps = 3"), 9, "steps = 5\nbegins = \"" + state + "\"");
  folder.write("w.toml", text);
  const outcome o = run_hydra(folder, "train w.toml");
  INFO(o.err);
  CHECK(o.status == 0);
  CHECK_THAT(o.err, Contains("least cost: the run uses cpu:0"));
  CHECK_THAT(o.out, !Contains("earlier parts") && !Contains("not of all parts"));
}

TEST_CASE("whether pieces are computed side by side is decided for the devices that are chosen") {
  const temporary_folder folder;
  const std::string device = "kind = \"cpu\"\nmemory = \"24MiB\"\nprice = ";
  std::string text = bent("kind = \"cpu\"\nmemory = \"24MiB\"\n", device + "1\n[[device]]\n" + device + "1e6\n");
  text.replace(text.find("steps = 3"), 9, "steps = 3\nparallel = { pieces = 2, side_by_side = \"auto\" }");
  const auto trained = [&](const std::string& name, const std::string& objective) {
    folder.write(name + ".toml", text);
    const outcome o = run_hydra(folder, "train " + name + ".toml --quiet --set run.objective=" + objective);
    INFO(o.err);
    REQUIRE(o.status == 0);
    return json::parse(folder.read("runs/" + name + "/report.json"));
  };
  const json all = trained("all", "makespan"), cheap = trained("cheap", "cost");
  CHECK(all["devices"].size() == 2);
  CHECK(cheap["devices"].size() == 1);
  CHECK(cheap["models"][0]["pieces"] == 2);
  CHECK(cheap["models"][0]["side_by_side"] == false);
  CHECK(cheap["models"][0]["digest"] == all["models"][0]["digest"]);
}

TEST_CASE("a deadline that no choice of devices meets ends with status 3, the fastest one and its time") {
  const temporary_folder folder;
  folder.write("w.toml", priced("deadline = \"1ns\"\n"));
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 3);
  CHECK_THAT(o.err, Contains("run.deadline: 1 ns cannot be met: the fastest of these devices (cpu:0") &&
                        Contains("expected to take ") && Contains("no schedule on them takes less than "));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  const outcome planned = run_hydra(folder, "plan w.toml");
  CHECK(planned.status == 3);
  CHECK_THAT(planned.out, Contains("cpu:0, cpu:1 ") && Contains("too late"));
  CHECK(json::parse(run_hydra(folder, "plan w.toml --json").out)["device_choices"].size() == 3);
}

TEST_CASE("shards for which a chain has too few layers are noted by a plan") {
  const temporary_folder folder;
  const auto asked = [](const std::string& n) {
    return bent("steps = 3", "steps = 3\nparallel = { shards = " + n + " }");
  };
  CHECK_THAT(plan(folder, asked("40")).out,
             Contains("notes:\n") && Contains("model 'gpt': 40 shards were asked for, its 4 layers make 4\n"));
  CHECK_THAT(plan(folder, asked("4")).out, !Contains("notes:"));
}

TEST_CASE("a plan as JSON is the plan with its forecast") {
  const temporary_folder folder;
  const auto j = json::parse(plan(folder, example, "--json").out);
  CHECK(j["models"][0]["name"] == "gpt");
  CHECK(j["models"][0]["shards"][0]["update_s"] > 0);
  CHECK(j["predicted"]["makespan_s"] >= j["predicted"]["bound_s"]);
}

TEST_CASE("a plan is predicted by the times of a rehearsal, which leaves nothing behind") {
  const temporary_folder folder;
  const outcome o = plan(folder, example, "--rehearse 2");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK_THAT(o.out, Contains("rehearsed 2 steps in ") && Contains("predicted makespan"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  CHECK(json::parse(plan(folder, example, "--rehearse 2 --json").out)["rehearsed"]["steps"] == 2);
  CHECK_FALSE(json::parse(plan(folder, example, "--json").out).contains("rehearsed"));
  CHECK(plan(folder, example, "--rehearse 1").status == 2);
}

TEST_CASE("a plan says what checkpoints need on disk, unless none are kept") {
  const temporary_folder folder;
  CHECK_THAT(plan(folder, example).out,
             Contains("\ndisk ") && Contains(" for the first checkpoints  at most ") && Contains("  free "));
  const auto disk = [&](const std::string& text, const std::string& options = "") {
    return json::parse(plan(folder, text, "--json " + options).out).value("disk", nlohmann::json{});
  };
  const auto one = disk(example), two = disk(example + grid);
  const auto first = one["first_bytes"].get<std::uint64_t>();
  CHECK(one["most_bytes"] == 3 * first);
  CHECK(two["first_bytes"] == 2 * first);
  CHECK(two["most_bytes"] == 5 * first);
  CHECK(one["free_bytes"] > 0);
  CHECK(disk(example, "--set run.checkpoint.keep=0").is_null());
  CHECK_THAT(plan(folder, example, "--set run.checkpoint.keep=0").out, !Contains("\ndisk "));
}

TEST_CASE(
    "models that wait for host memory are planned, rehearsed and trained; the log does not say whose turn it is") {
  const temporary_folder folder;
  const std::string little = "[host]\nmemory = \"MEMORY\"\n\n[[device]]";
  auto text = bent("[[device]]", little) + grid;
  const auto need = json::parse(plan(folder, example, "--json").out)["host_bytes"].get<std::uint64_t>();
  text.replace(text.find("MEMORY"), 6, std::to_string(need + need / 2));
  const outcome o = plan(folder, text, "--rehearse 2");
  CAPTURE(o.err);
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("the others wait until models have ended") && Contains("overhead -"));
  const outcome trained = run_hydra(folder, "train w.toml");
  CHECK(trained.status == 0);
  CHECK_THAT(trained.err, Contains("the others wait until one of them has ended") && !Contains("has its memory"));
}

TEST_CASE("a plan says how conversations fill samples, and which parameters each group has") {
  const temporary_folder folder;
  const auto line = [](const std::string& q) {
    return R"({"messages": [{"role": "user", "content": ")" + q + R"("}, {"role": "assistant", "content": "b"}]})" +
           "\n";
  };
  std::string chats;
  for (int i = 0; i < 8; ++i) chats += line("a");
  folder.write("chats.jsonl", chats + line("a question that is too long"));
  std::string text = bent("kind = \"synthetic-language\"",
                          "kind = \"chat\"\ntrain = \"chats.jsonl\"\npacking = false\n"
                          "template = { user = [\"U\", \"\"], assistant = [\"A\", \"\"] }");
  text.replace(text.find("{ learning_rate = 1e-3 }"), 24,
               "{ learning_rate = 1e-3, groups = [{ parameters = [\"*.bias\"], weight_decay = 0 }] }");
  const outcome o = plan(folder, text);
  CAPTURE(o.err);
  CHECK_THAT(o.out, Contains("shortened") && Contains("77.8 %") && Contains("*.bias"));
  const auto j = json::parse(plan(folder, text, "--json").out);
  REQUIRE(j["data"].size() == 1);
  CHECK(j["data"][0]["data"] == "language");
  CHECK(j["data"][0]["records"] == 9);
  CHECK(j["data"][0]["shortened"] == 1);
  CHECK(j["data"][0]["samples"] == 9);
  CHECK(j["data"][0]["tokens"] == 28);  // targets: 3 of each conversation, 4 of the cut one
  REQUIRE(j["groups"].size() == 2);
  CHECK(j["groups"][0]["group"] == "none");
  CHECK(j["groups"][1]["group"] == "*.bias");
  CHECK(j["groups"][1]["weight_decay"] == 0);
  for (const auto& name : j["groups"][1]["parameters"]) CHECK_THAT(name.get<std::string>(), Catch::EndsWith(".bias"));
  CHECK_THAT(plan(folder, example).out, !Contains("shortened") && !Contains("group"));
}

TEST_CASE("what of the data is not read or left out is noted by a plan, and in the report of a run") {
  const temporary_folder folder;
  folder.write("texts.jsonl", "{\"text\": \"ab\", \"lang\": \"en\"}\n{\"text\": \"\"}\n{\"text\": \"cd\"}\n");
  std::string text =
      bent("kind = \"synthetic-language\"", "kind = \"jsonl\"\ntrain = \"texts.jsonl\"\nbad_rows = \"leave-out\"");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 2");
  const outcome o = plan(folder, text);
  CAPTURE(o.err);
  CHECK_THAT(o.out,
             Contains("notes:\n") &&
                 Contains("texts.jsonl: 1 of 3 records cannot be read and is left out: line 2: \"text\" is empty") &&
                 Contains("texts.jsonl: fields that are not read: \"lang\""));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const auto notes = json::parse(folder.read("runs/w/report.json"))["notes"];
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0].get<std::string>(), Contains("1 of 3 records"));
  CHECK_THAT(run_hydra(folder, "evaluate w.toml --set data.language.validation=texts.jsonl").err,
             Contains("note: ") && Contains("1 of 3 records"));
  CHECK_THAT(plan(folder, example).out, !Contains("notes:"));
}

TEST_CASE("with epochs a plan says how many samples are in no batch") {
  const temporary_folder folder;
  std::string text = bent("kind = \"synthetic-language\"", "kind = \"jsonl\"\ntrain = \"texts.jsonl\"");
  text.replace(text.find("batch_size = 4\nsteps = 3"), 24, "batch_size = 2\nepochs = 1");
  const std::string two = "{\"text\": \"ab\"}\n{\"text\": \"cd\"}\n";
  folder.write("texts.jsonl", two + "{\"text\": \"ef\"}\n");
  CHECK_THAT(plan(folder, text).out, Contains("3 training samples in batches of 2: 1 of them is in no batch"));
  folder.write("texts.jsonl", two);
  CHECK_THAT(plan(folder, text).out, !Contains("in no batch"));
}

TEST_CASE("a saved plan cuts the model of the same name again, and its profile is not measured again") {
  const temporary_folder folder;
  REQUIRE(plan(folder, bent("steps = 3", "steps = 3\ncuts = [0, 1, 3]"), "--save plan.json").status == 0);
  const outcome again = plan(folder, bent("steps = 3", "steps = 3\ncuts = \"plan.json\""), "--save again.json");
  REQUIRE(again.status == 0);
  const auto first = json::parse(folder.read("plan.json"));
  const auto second = json::parse(folder.read("again.json"));
  CHECK(second["models"][0]["shards"].size() == 3);
  CHECK(second["profiles"] == first["profiles"]);  // the times, too: no two pilots agree to the nanosecond
}

TEST_CASE("a plan overwrites nothing, and a place that cannot be written is refused before the pilot") {
  const temporary_folder folder;
  const outcome own = plan(folder, example, "--save w.toml");
  CHECK(own.status == 2);
  CHECK_THAT(own.err, StartsWith("--save w.toml: exists and is not overwritten"));
  CHECK(folder.read("w.toml") == example);
  const outcome nowhere = plan(folder, example, "--save none/plan.json");
  CHECK(nowhere.status == 2);
  CHECK(nowhere.out.empty());
  CHECK_THAT(nowhere.err, StartsWith("--save none/plan.json: there is no folder"));
}

TEST_CASE("a saved plan that does not suit is refused where the cuts are given") {
  const temporary_folder folder;
  REQUIRE(plan(folder, example, "--save plan.json").status == 0);
  const std::string saved = bent("steps = 3", "steps = 3\ncuts = \"./plan.json\"");
  const auto with = [&](const std::string& part, const std::string& by) {
    std::string text = saved;
    return text.replace(text.find(part), part.size(), by);
  };
  CHECK_THAT(plan(folder, with("name = \"gpt\"", "name = \"other\"")).err,
             StartsWith("w.toml:17: model.cuts: ") && Contains("no model 'other'"));
  CHECK_THAT(plan(folder, with("layers = 2", "layers = 3")).err,
             StartsWith("w.toml:17: model.cuts: ") && Contains("4 layers of model 'gpt'"));
  folder.write("plan.json", "half a pl");
  const outcome garbage = plan(folder, saved);
  CHECK(garbage.status == 2);
  CHECK_THAT(garbage.err, StartsWith("w.toml:17: model.cuts: ") && Contains("is not JSON"));
}

TEST_CASE("a plan that cannot fit ends with status 3 and the sufficient memory") {
  const temporary_folder folder;
  const outcome o = plan(folder, bent("24MiB", "1KiB"));
  CHECK(o.status == 3);
  CHECK_THAT(o.err, Contains("smallest sufficient memory") && !Contains("width=") && !Contains("Model by model"));
}

TEST_CASE("units are staged behind each other where loads are slow, and there is memory for them") {
  const temporary_folder folder;
  const auto text = [](const std::string& memory, const std::string& link, const std::string& cuts) {
    return "[run]\nseed = 1\noutput = \"runs/w\"\n[[device]]\nkind = \"cpu\"\nmemory = \"" + memory + "\"\nlink = \"" +
           link +
           "\"\n[data.c]\nkind = \"synthetic-classes\"\nfeatures = 64\nclasses = 4\n[[model]]\nname = \"m{seed}\"\n"
           "chain = { family = \"mlp\", layers = 5, width = 64 }\ndata = \"c\"\nbatch_size = 8\nsteps = 12\n"
           "optimizer = { kind = \"sgd\", learning_rate = 0.1 }\ncuts = " +
           cuts + "\n[model.grid]\nseed = [1, 2, 3, 4]\n";
  };
  REQUIRE(plan(folder, text("1MiB", "1GB/s", "[0, 1, 2, 3, 4, 5]"), "--save measured.json").status == 0);
  json measured = json::parse(folder.read("measured.json"));
  for (auto& profile : measured["profiles"])
    for (auto& cost : profile["costs"]) {
      cost["forward_s"] = 2e-3;
      cost["backward_s"] = 6e-3;
    }
  folder.write("given.json", measured.dump());
  const auto staged = [&](const std::string& memory, const std::string& link) {
    const outcome o = plan(folder, text(memory, link, "\"given.json\""), "--json");
    CAPTURE(o.err);
    return json::parse(o.out)["staged_units"].get<int>();
  };
  CHECK(staged("1MiB", "4MB/s") > 1);  // a load takes 4 ms
  CHECK_THAT(plan(folder, text("1MiB", "4MB/s", "\"given.json\"")).out,
             Contains("\nstaged ") && Contains(" units behind each other"));
  CHECK(staged("1MiB", "100MB/s") == 1);
  CHECK(staged(std::to_string(measured["sufficient_bytes"].get<int>()) + "B", "4MB/s") == 1);
}

}  // namespace hydra::apps
