#include "apps/run_folder/folder_lock.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hydra::apps {

using Catch::Contains;
using nlohmann::json;

namespace {

/// Its loss rises after the third step: the learning rate is far too high.
std::string rising() {
  std::string text =
      bent("optimizer = { learning_rate = 1e-3 }",
           "optimizer = { kind = \"sgd\", learning_rate = 3 }\nvalidate = { every_steps = 1, keep_best = true }");
  return text.replace(text.find("steps = 3"), 9, "steps = 5");
}

namespace fs = std::filesystem;

/// Changes a bit in the middle of a checkpoint's first shard.
void damage(const fs::path& checkpoint) {
  const fs::path file = checkpoint / "shard-0000.safetensors";
  std::fstream bytes{file, std::ios::in | std::ios::out | std::ios::binary};
  const auto middle = static_cast<std::streamoff>(fs::file_size(file) / 2);
  bytes.seekg(middle);
  const int old = bytes.get();
  bytes.seekp(middle);
  bytes.put(static_cast<char>(old ^ 1));
  REQUIRE(bytes.good());
}

/// Changes a checkpoint after step 3 to one whose last shard has not been updated in that step.
void step_back_one_shard(const temporary_folder& folder, const fs::path& checkpoint) {
  std::string state = folder.read(checkpoint / "state.json");
  const std::string version = "\"version\": 3";
  state.replace(state.rfind(version), version.size(), "\"version\": 2");
  folder.write(checkpoint / "state.json", state);
  const std::string sums = "cd '" + checkpoint.string() + "' && sha256sum *.json *.safetensors >SHA256SUMS";
  REQUIRE(std::system(sums.c_str()) == 0);
}

/// The checkpoint whose folder's name starts with "best", or the one whose name does not.
fs::path checkpoint_of(const temporary_folder& folder, bool best) {
  for (const fs::directory_entry& e : fs::directory_iterator{folder.path() / "runs/w/checkpoints/gpt"})
    if (e.path().filename().string().starts_with("best") == best) return e.path();
  FAIL("there is no such checkpoint");
  return {};
}

double last_loss_of_report(const temporary_folder& folder) {
  return json::parse(folder.read("runs/w/report.json"))["models"][0]["validation"].back()["loss"].get<double>();
}

double best_loss_of_report(const temporary_folder& folder) {
  double best = 1e9;
  const json report = json::parse(folder.read("runs/w/report.json"));
  for (const json& v : report["models"][0]["validation"]) best = std::min(best, v["loss"].get<double>());
  return best;
}

}  // namespace

TEST_CASE("evaluate says of a run's models what their training ended with, or of their best states") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const outcome newest = run_hydra(folder, "evaluate runs/w --json");
  REQUIRE(newest.status == 0);
  CHECK(json::parse(newest.out)[0]["loss"] == last_loss_of_report(folder));
  const outcome best = run_hydra(folder, "evaluate runs/w gpt --best --json");
  REQUIRE(best.status == 0);
  CHECK(json::parse(best.out)[0]["loss"] == best_loss_of_report(folder));
  CHECK(best_loss_of_report(folder) < last_loss_of_report(folder));
  CHECK_THAT(run_hydra(folder, "evaluate runs/w").out, Contains("perplexity") && Contains("gpt") && Contains("step-5"));
}

TEST_CASE("evaluate says which step a state is of, where that is not the last one") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  CHECK_THAT(run_hydra(folder, "evaluate runs/w").out, Contains("finished"));
  CHECK_THAT(run_hydra(folder, "evaluate runs/w --best").out,
             Contains("at step ") && Contains(" of 5") && !Contains("finished"));
  CHECK_THAT(run_hydra(folder, "evaluate runs/w --best --json").out, Contains("\"at step "));
}

TEST_CASE("models without a best state are left out with a note, unless no model has one") {
  const temporary_folder folder;
  folder.write("w.toml", rising() + "[model.grid]\nlearning_rate = [3, 2]\n");
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const auto forget = [&](const char* model) {
    for (const fs::directory_entry& e : fs::directory_iterator{folder.path() / "runs/w/checkpoints" / model})
      if (e.path().filename().string().starts_with("best")) fs::remove_all(e.path());
  };
  forget("gpt-2");
  const outcome o = run_hydra(folder, "evaluate runs/w --best");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("gpt-3") && !Contains("gpt-2"));
  CHECK_THAT(o.err, Contains("note: gpt-2 is left out: it has no best state"));
  CHECK_THAT(run_hydra(folder, "evaluate runs/w gpt-2 --best").err, Contains("has no checkpoint of a best evaluation"));
  forget("gpt-3");
  CHECK(run_hydra(folder, "evaluate runs/w --best").status == 2);
}

TEST_CASE("a model whose evaluations are not finite has no best state, and evaluate --best says why") {
  const temporary_folder folder;
  std::string text = rising();
  folder.write("w.toml", text.replace(text.find("learning_rate = 3"), 17, "learning_rate = 1e30")
                             .replace(text.find("steps = 5"), 9, "steps = 5\non_nan = \"ignore\""));
  const outcome trained = run_hydra(folder, "train w.toml --quiet");
  REQUIRE(trained.status == 0);
  CHECK_THAT(trained.out, Contains(" nan") && !Contains("-nan"));
  const outcome best = run_hydra(folder, "evaluate runs/w --best");
  CHECK(best.status == 2);
  CHECK_THAT(best.err, Contains("none of its evaluations (5) has a finite loss"));
  CHECK_THAT(run_hydra(folder, "evaluate runs/w").out, Contains(" nan") && !Contains("-nan"));
}

TEST_CASE("evaluate --best says of a model that has failed before it had a best state that it has failed") {
  const temporary_folder folder;
  std::string text = rising();
  folder.write("w.toml", text.replace(text.find("learning_rate = 3"), 17, "learning_rate = 1e30"));
  const outcome trained = run_hydra(folder, "train w.toml --quiet");
  CHECK(trained.status == 1);
  CHECK_THAT(trained.out, Contains(" nan ") && Contains("failed: not finite: its validation after step 1 is nan; "));
  const outcome best = run_hydra(folder, "evaluate runs/w --best");
  CHECK(best.status == 2);
  CHECK_THAT(best.err, Contains("it has failed: its validation after step 1 is nan; ") && !Contains("keep_best"));
}

TEST_CASE("evaluate of a workload says how good its models are before training, and leaves nothing behind") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const outcome o = run_hydra(folder, "evaluate w.toml");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("initial") && Contains("evaluated") && !Contains("finished"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_CASE("evaluate refuses what is not there by name") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const auto refused = [&](const std::string& arguments) {
    const outcome o = run_hydra(folder, "evaluate " + arguments);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    return o.err;
  };
  CHECK_THAT(refused("nowhere"), Contains("nowhere"));
  std::filesystem::create_directory(folder.path() / "checkpoint");
  CHECK_THAT(refused("checkpoint"), Contains("\"checkpoint\" is not a run folder: it holds no workload.toml. Give the "
                                             "folder of a run, or a workload file"));
  CHECK_THAT(refused(std::string(300, 'a')), Contains("aaa…: File name too long"));
  CHECK_THAT(refused("w.toml gtp"), Contains("no model \"gtp\"") && Contains("\"gpt\""));
  CHECK_THAT(refused("w.toml --best"), Contains("not a run folder"));
  std::filesystem::create_directory(folder.path() / "run");
  folder.write("run/workload.toml", example);
  CHECK_THAT(refused("run"),
             Contains("no whole step of gpt is saved yet: no checkpoint is there. This continues the run: "
                      "hydra train run --resume"));
  {
    const folder_lock trains{folder.path() / "run"};
    CHECK_THAT(refused("run"), Contains("The run is under way: try again when it has saved a step"));
  }
  CHECK_THAT(refused("run --best"), Contains("was not evaluated yet") && Contains("keep_best"));
  std::filesystem::create_directory(folder.path() / "run/data.json");
  CHECK_THAT(refused("run"), Contains("run/data.json: a folder; a file is expected"));
}

TEST_CASE("what needs the workload of a C++ program's run says that only the program has it, and where to read on") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output run").status == 0);
  fs::remove(folder.path() / "run/workload.toml");  // as a session leaves its folder
  for (const char* command : {"evaluate run", "evaluate run --best", "generate run --prompt-ids 1"}) {
    INFO(command);
    const outcome o = run_hydra(folder, command);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Contains("\"run\" is the run of a C++ program") && Contains("checkpoints; docs/cpp.md"));
  }
  CHECK(run_hydra(folder, "report run").status == 0);
  CHECK(run_hydra(folder, "simulate run").status == 0);
}

TEST_CASE("a model that stops early is said to be stopped, and a run with it is complete") {
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3", "steps = 50\nvalidate = { every_steps = 1 }") +
                             "\n[[controller]]\nkind = \"early-stop\"\npatience = 1\nminimum = 10\n");
  const outcome o = run_hydra(folder, "train w.toml --quiet");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("stopped"));
  CHECK(json::parse(folder.read("runs/w/report.json"))["models"][0]["steps"] == 2);
}

TEST_CASE("a controller that cannot be is refused with its line") {
  const auto with = [](const std::string& keys) { return refusal(example + "[[controller]]\n" + keys); };
  CHECK_THAT(with("kind = \"early-stopp\""), Contains("w.toml:19: controller.kind") && Contains("\"early-stop\""));
  CHECK_THAT(with("kind = \"early-stop\"\npatience = 0"), Contains("w.toml:20: controller.patience: 0"));
  CHECK_THAT(with("kind = \"early-stop\"\nminimum = -1"), Contains("w.toml:20: controller.minimum: -1"));
  CHECK_THAT(with("kind = \"early-stop\"\npatient = 1"), Contains("unknown key") && Contains("\"patience\""));
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3", "steps = 3\nvalidate = { every_steps = 1 }") +
                             "[[controller]]\nkind = \"early-stop\"\nmodels = [\"gtp\"]\n");
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("w.toml:21: controller.models: there is no model \"gtp\"; did you mean \"gpt\""));
}

TEST_CASE("early stopping of models that are evaluated only at their end is refused: it could never stop one") {
  const temporary_folder folder;
  folder.write("w.toml", example + "[[controller]]\nkind = \"early-stop\"\n");
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("w.toml:18: controller") && Contains("every_steps"));
}

TEST_CASE("early stopping of a model by name that is evaluated only at its end is refused, whatever the others do") {
  const temporary_folder folder;
  const std::string other = example.substr(example.find("[[model]]"));
  std::string second = other;
  second.replace(second.find("\"gpt\""), 5, "\"late\"");
  folder.write("w.toml", bent("steps = 3", "steps = 3\nvalidate = { every_steps = 1 }") + second +
                             "[[controller]]\nkind = \"early-stop\"\nmodels = [\"gpt\", \"late\"]\n");
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("controller.models: late is not evaluated before its end"));
}

TEST_CASE("numbers to predict with a loss of classes are refused with what to do") {
  const temporary_folder folder;
  folder.write("d.csv", "x,y\n1,0.5\n2,0.1\n3,0.2\n4,0.7\n");
  folder.write("w.toml",
               "[[device]]\nkind = \"cpu\"\nmemory = \"4MiB\"\n[data.d]\nkind = \"csv\"\ntrain = \"d.csv\"\n"
               "target = \"y\"\nregression = true\n[[model]]\nname = \"m\"\nchain = { family = \"mlp\", width = 4 }\n"
               "data = \"d\"\nbatch_size = 2\nsteps = 2\noptimizer = { learning_rate = 1e-3 }\n");
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("model.loss") && Contains("use loss = \"mse\""));
  CHECK(run_hydra(folder, "train w.toml --quiet --set model.loss=mse").status == 0);
}

TEST_CASE("a command that reads a run skips a damaged checkpoint with a note, and leaves it as it is") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const fs::path newest = checkpoint_of(folder, false), later = newest.parent_path() / "999999-step-5";
  fs::copy(newest, later, fs::copy_options::recursive);
  damage(later);
  const outcome o = run_hydra(folder, "evaluate runs/w --json");
  CHECK(o.status == 0);
  CHECK(json::parse(o.out)[0]["weights"] == newest.filename().string());
  CHECK_THAT(o.err, Contains("note: ") && Contains("999999-step-5") && Contains("shard-0000.safetensors"));
  CHECK(fs::is_directory(later));
  CHECK_THAT(run_hydra(folder, "export runs/w gpt out").err, Contains("note: "));
  CHECK(fs::is_directory(later));
}

TEST_CASE("a model without a whole state is left out of an evaluation, which says so and evaluates the others") {
  const temporary_folder folder;
  folder.write("w.toml", rising() + "[model.grid]\nlearning_rate = [3, 2]\n");
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  for (const fs::directory_entry& e : fs::directory_iterator{folder.path() / "runs/w/checkpoints/gpt-2"})
    damage(e.path());
  for (const char* const command : {"evaluate runs/w", "evaluate runs/w --best"}) {
    const outcome o = run_hydra(folder, command);
    CHECK(o.status == 1);
    CHECK_THAT(o.out, Contains("gpt-3") && !Contains("gpt-2"));
    CHECK_THAT(o.err, Contains("gpt-2 is left out: ") && Contains("shard-0000.safetensors has the SHA-256"));
  }
  CHECK(run_hydra(folder, "evaluate runs/w gpt-2").status == 2);
  CHECK(run_hydra(folder, "evaluate runs/w gpt-3").status == 0);
}

TEST_CASE("a state that only the best one has is exported by its step") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  fs::remove_all(checkpoint_of(folder, false));
  const std::string best = checkpoint_of(folder, true).filename().string();
  CHECK_THAT(run_hydra(folder, "evaluate runs/w").out, Contains(best));
  CHECK(run_hydra(folder, "export runs/w gpt out --step " + best.substr(best.rfind('-') + 1)).status == 0);
}

TEST_CASE("the best state of a step is exported where the checkpoint of that step is damaged") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const fs::path best = checkpoint_of(folder, true);
  const std::string step = best.string().substr(best.string().rfind('-') + 1);
  const fs::path numbered = best.parent_path() / ("000099-step-" + step);
  fs::copy(best, numbered);
  damage(numbered);
  const outcome o = run_hydra(folder, "export runs/w gpt out --step " + step);
  CAPTURE(o.err);
  CHECK(o.status == 0);
  damage(best);
  CHECK_THAT(run_hydra(folder, "export runs/w gpt other --step " + step).err, Contains("is damaged"));
}

TEST_CASE(
    "of a run that was stopped inside a step, the step before is read; without one the message says how to go on") {
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3", "steps = 3\ncuts = [0, 2]"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const fs::path whole = checkpoint_of(folder, false), inside = whole.parent_path() / "999999-step-2";
  fs::copy(whole, inside, fs::copy_options::recursive);
  step_back_one_shard(folder, inside);
  const std::string why =
      inside.filename().string() + " was saved inside step 3, with some shards updated and others not";
  const std::vector<std::string> commands{"evaluate runs/w", "export runs/w gpt out", "generate runs/w --prompt-ids 1"};
  for (const std::string& command : commands) {
    const outcome o = run_hydra(folder, command);
    CHECK(o.status == 0);
    CHECK_THAT(o.err, Contains("note: ") && Contains(why) && Contains(whole.filename().string() + " is used"));
  }
  fs::remove_all(whole);
  fs::remove_all(folder.path() / "out");
  for (const std::string& command : commands) {
    const outcome o = run_hydra(folder, command);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains("no whole step of gpt is saved yet: ") && Contains(why) &&
                          Contains("This continues the run: hydra train runs/w --resume\n"));
  }
}

TEST_CASE("the command that continues a run is one that does, from any working directory") {
  const temporary_folder folder, elsewhere;
  folder.write("w.toml", rising() + "[model.grid]\nlearning_rate = [3, 2]\n");
  REQUIRE(run_hydra(folder, "train w.toml --quiet --set run.seed=8 --set model.steps=4").status == 0);
  fs::remove_all(folder.path() / "runs/w/checkpoints/gpt-2");
  const auto command = [](const outcome& o) {
    const std::string before = "This continues the run: ";
    const auto at = o.err.find(before) + before.size();
    return o.err.substr(at, o.err.find('\n', at) - at);
  };
  const std::string here = command(run_hydra(folder, "evaluate runs/w"));
  CHECK(here == "hydra train runs/w --resume");
  const outcome resumed = run_hydra(folder, here.substr(here.find(' ')));
  CHECK(resumed.status == 0);
  CHECK_THAT(resumed.err, Contains("gpt-2 has no checkpoint: it starts from the beginning"));
  CHECK(run_hydra(folder, "evaluate runs/w").status == 0);
  fs::remove_all(folder.path() / "runs/w/checkpoints/gpt-2");
  const std::string run = (folder.path() / "runs/w").string();
  CHECK(command(run_hydra(elsewhere, "evaluate " + run)) ==
        "cd " + folder.path().string() + " && hydra train " + run + " --resume");
}

TEST_CASE("a damaged checkpoint of the best evaluation is refused with its file") {
  const temporary_folder folder;
  folder.write("w.toml", rising());
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  damage(checkpoint_of(folder, true));
  for (const char* const command : {"evaluate runs/w --best", "export runs/w gpt out --best",
                                    "generate runs/w --prompt-ids 1 --best"}) {
    const outcome o = run_hydra(folder, command);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains("best evaluation is damaged") && Contains("shard-0000.safetensors"));
  }
}

TEST_CASE("the chain of a run's models cannot be changed for an evaluation") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  for (const char* const key : {"model.chain.heads=4", "model.gpt.chain.heads=4", "model.gpt.chain='{}'",
                                "model.adapter.alpha=4", "model.gpt.adapter='{rank=2}'", "model.gpt.freeze=3"}) {
    const outcome o = run_hydra(folder, std::string{"evaluate runs/w --set "} + key);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains("the chains that were trained"));
  }
  CHECK(run_hydra(folder, "evaluate w.toml --set model.chain.heads=4").status == 0);
  CHECK(run_hydra(folder, "evaluate runs/w --set run.seed=4").status == 0);
}

}  // namespace hydra::apps
