#include "apps/commands/resume.hpp"

#include "apps/run_folder/folder_lock.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace hydra::apps::resume_test {

using Catch::Contains;
using Catch::StartsWith;

namespace fs = std::filesystem;

outcome resume(const temporary_folder& folder, const std::string& text, const std::string& options = "") {
  folder.write("w.toml", text);
  return run_hydra(folder, "train w.toml --resume " + options);
}

/// A run of the example as it was killed: its workload, and a checkpoint that must not change.
void leave_run(const temporary_folder& folder) {
  fs::create_directories(folder.path() / "runs/w/checkpoints/gpt");
  folder.write("runs/w/workload.toml", parse_workload(example, "w.toml").expanded);
  folder.write("runs/w/checkpoints/gpt/precious", "as it was");
}

std::string refused(const temporary_folder& folder, const outcome& o) {
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(folder.read("runs/w/checkpoints/gpt/precious") == "as it was");
  CHECK_FALSE(fs::exists(folder.path() / "runs/w/report.json"));
  return o.err;
}

std::string digest_of(const temporary_folder& folder, const std::string& run) {
  const std::string report = folder.read(run + "/report.json");
  return report.substr(report.find("sha256:"), 71);
}

TEST_CASE("without a folder a resumed run starts afresh and says so, with --quiet, too") {
  const temporary_folder folder;
  const outcome o = resume(folder, example);
  CHECK(o.status == 0);
  CHECK_THAT(o.err, StartsWith("no run yet in \"runs/w\": starting afresh\n"));
  CHECK_FALSE(folder.read("runs/w/report.json").empty());
  const outcome quiet = resume(folder, example, "--quiet --output elsewhere");
  CHECK(quiet.status == 0);
  CHECK(quiet.err == "no run yet in \"elsewhere\": starting afresh\n");
  CHECK_FALSE(folder.read("elsewhere/report.json").empty());
}

TEST_CASE("steps in parallel that the planner chooses are numbers in the run folder, and are kept when it is resumed") {
  const temporary_folder folder;
  std::string text = bent("steps = 3", "steps = 3\nmicro_batches = 4\nparallel = { replicas = \"auto\" }");
  text.replace(text.find("memory"), 6, "count = 2\nmemory");
  folder.write("w.toml", text);
  const outcome o = run_hydra(folder, "train w.toml");
  REQUIRE(o.status == 0);
  CHECK_THAT(o.err, Contains("gpt: parallel = { replicas = "));
  const std::string chosen = folder.read("runs/w/workload.toml");
  CHECK_THAT(chosen, !Contains("auto") && Contains("parallel = { replicas = "));
  const outcome longer = run_hydra(folder, "train w.toml --resume --set model.steps=5");
  CHECK(longer.status == 0);
  const auto part = chosen.substr(chosen.find("parallel"), std::string{"parallel = { replicas = 2"}.size());
  CHECK_THAT(folder.read("runs/w/workload.toml"), Contains(part) && Contains("steps = 5"));
}

TEST_CASE("a run that was killed before its first checkpoint starts afresh in its folder") {
  const temporary_folder folder;
  fs::create_directories(folder.path() / "runs/w/checkpoints/gpt");
  folder.write("runs/w/.workload.toml.17.tmp", "[ru");
  const workload w =
      parse_workload(example, "w.toml", {parse_override("run.output=" + (folder.path() / "runs/w").string())});
  CHECK_THROWS_WITH(check_resume(w), Contains("not a run folder"));
  fs::remove_all(folder.path() / "runs/w/checkpoints");
  CHECK_THAT(check_resume(w), StartsWith("no run yet in "));
  folder.write("runs/w/workload.toml", parse_workload(example, "w.toml").expanded);
  CHECK_THAT(check_resume(w), StartsWith("no checkpoint yet in "));
  leave_run(folder);
  CHECK(check_resume(w) == "");
}

TEST_CASE(
    "a run that was killed after a model had been stopped, and while files were written, is resumed without both") {
  const temporary_folder folder;
  const std::string endless = bent("steps = 3", "steps = 1000000");
  fs::create_directories(folder.path() / "runs/w");
  folder.write("runs/w/workload.toml", parse_workload(endless, "w.toml").expanded);
  folder.write("runs/w/stopped.toml", "models = [\"gpt\"]\n");
  for (const char* half : {".workload.toml", ".data.json", ".plan.json", ".trace.json", ".report.json", ".added.toml"})
    folder.write(std::string{"runs/w/"} + half + ".99999999.tmp", "{");
  REQUIRE(resume(folder, endless).status == 0);
  CHECK_THAT(folder.read("runs/w/report.json"), Contains("\"stopped\""));
  for (const auto& e : fs::directory_iterator{folder.path() / "runs/w"}) CHECK(e.path().extension() != ".tmp");
}

TEST_CASE("a resumed run writes its workload again, with what has changed") {
  const temporary_folder folder;
  REQUIRE(resume(folder, example, "--quiet").status == 0);
  CHECK_THAT(folder.read("runs/w/workload.toml"), !Contains("fifo"));
  fs::remove(folder.path() / "runs/w/report.json");  // as if it had been killed
  REQUIRE(resume(folder, bent("24MiB", "25MiB"), "--quiet --policy fifo --set run.checkpoint.keep=1").status == 0);
  CHECK_THAT(folder.read("runs/w/workload.toml"), Contains("\"fifo\"") && Contains("25MiB") && Contains("keep = 1"));
}

TEST_CASE("data that changed before a run is resumed are refused by file and [data.NAME], without digests") {
  const temporary_folder folder;
  const std::string texts = bent("kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"corpus.txt\"");
  folder.write("corpus.txt", std::string(200, 'a'));
  REQUIRE(resume(folder, texts, "--quiet --set run.checkpoint.every_steps=1").status == 0);
  fs::remove(folder.path() / "runs/w/report.json");  // as if it had been killed
  folder.write("corpus.txt", std::string(210, 'b'));
  const outcome o = resume(folder, texts, "--quiet");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("its data are not those that it was trained on") && Contains("[data.language]: ") &&
                        Contains("corpus.txt had 200 bytes, last changed 20") && Contains("it has 210 bytes") &&
                        !Contains("content: "));
}

TEST_CASE("a refusal that has nothing to do with the data does not name their files") {
  const temporary_folder folder;
  const std::string texts = bent("kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"corpus.txt\"");
  folder.write("corpus.txt", std::string(200, 'a'));
  REQUIRE(resume(folder, texts, "--quiet").status == 0);
  const auto corpus = folder.path() / "corpus.txt";
  fs::last_write_time(corpus, fs::last_write_time(corpus) - std::chrono::hours{1});
  const outcome o = resume(folder, texts, "--set model.gpt.steps=2");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("3 steps are done") && !Contains("corpus.txt"));
}

TEST_CASE("another workload is refused, and the run stays as it was") {
  const temporary_folder folder;
  leave_run(folder);
  CHECK_THAT(refused(folder, resume(folder, bent("batch_size = 4", "batch_size = 5"))),
             StartsWith("w.toml:15: model.gpt.batch_size: another value than in runs/w/workload.toml:") &&
                 Contains("(was 4, is 5)") && Contains("--output"));
  CHECK_THAT(refused(folder, resume(folder, example, "--set model.gpt.seed=8")),
             StartsWith("--set model.gpt.seed=8: model.gpt.seed: "));
  CHECK(folder.read("runs/w/workload.toml") == parse_workload(example, "w.toml").expanded);
}

TEST_CASE("a workload that does not fit its new devices is refused, and the run stays as it was") {
  const temporary_folder folder;
  leave_run(folder);
  CHECK(resume(folder, bent("24MiB", "1KiB")).status == 3);
  CHECK(folder.read("runs/w/workload.toml") == parse_workload(example, "w.toml").expanded);
  CHECK(folder.read("runs/w/checkpoints/gpt/precious") == "as it was");
}

TEST_CASE("a folder that is not a run's is refused and left as it is") {
  const temporary_folder folder;
  fs::create_directories(folder.path() / "mine");
  folder.write("mine/letter", "precious");
  folder.write("mine/.letter.99999999.tmp", "precious, too");
  fs::create_symlink("nowhere", folder.path() / "dangling");
  for (const char* output : {"mine", "w.toml", "dangling", "w.toml/below"}) {
    const outcome o = resume(folder, example, std::string{"--output "} + output);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, StartsWith("--output: run.output: \""));
  }
  CHECK(folder.read("mine/letter") == "precious");
  CHECK(folder.read("mine/.letter.99999999.tmp") == "precious, too");
  CHECK_THAT(resume(folder, example, "--output mine").err, Contains("is not a run folder: it holds no workload.toml"));
}

TEST_CASE("a recorded workload that is none is refused by name") {
  const temporary_folder folder;
  leave_run(folder);
  folder.write("runs/w/workload.toml", "seed = \n");
  CHECK_THAT(refused(folder, resume(folder, example)), StartsWith("runs/w/workload.toml:1: not valid TOML"));
  folder.write("runs/w/workload.toml", "[tool]\nname = \"poetry\"\n");
  CHECK_THAT(refused(folder, resume(folder, example)),
             StartsWith("w.toml: run.output: \"runs/w\" is not a run folder"));
}

TEST_CASE("two runs do not share a folder") {
  const temporary_folder folder;
  leave_run(folder);
  const folder_lock other{folder.path() / "runs/w"};
  CHECK_THAT(refused(folder, resume(folder, example)), Contains("another run is under way in \"runs/w\""));
}

TEST_CASE("a damaged checkpoint is set aside with a note, and costs its model the steps since the one before") {
  const temporary_folder folder;
  const std::string often = "--set run.checkpoint.every_steps=1 --set run.checkpoint.keep=2";
  REQUIRE(resume(folder, example, often).status == 0);
  const auto digest = [&] {
    const std::string report = folder.read("runs/w/report.json");
    return report.substr(report.find("sha256:"), 71);
  };
  const std::string first = digest();
  const auto states = [&] {
    std::vector<fs::path> all;
    for (const auto& e : fs::recursive_directory_iterator{folder.path() / "runs/w/checkpoints"})
      if (e.path().filename() == "state.json" && e.path().parent_path().extension().empty()) all.push_back(e.path());
    std::ranges::sort(all);
    return all;
  };
  REQUIRE(states().size() == 2);
  fs::resize_file(states().back(), 10);
  const outcome again = resume(folder, example, often);
  CHECK(again.status == 0);
  CHECK_THAT(again.err, Contains("model 'gpt' goes back to step ") &&
                            Contains("a damaged checkpoint is passed over (it is ") && Contains("state.json"));
  CHECK(digest() == first);
  for (const fs::path& state : states()) fs::resize_file(state, 10);
  const outcome none = resume(folder, example, often);
  CHECK(none.status == 0);
  CHECK_THAT(none.err, Contains("model 'gpt' goes back to the beginning: "));
  CHECK(digest() == first);
}

TEST_CASE("devices of another arithmetic are refused: bits may differ") {
  const temporary_folder folder;
  leave_run(folder);
  const auto on = [&](const std::string& changes, const std::string& text = example) {
    return refused(folder, resume(folder, text, changes));
  };
  CHECK_THAT(
      on("--set device.threads=2"),
      StartsWith("w.toml:4: device: the run was trained on cpu (now cpu with threads = 2); other arithmetic may"));
  CHECK_THAT(on("--set device.precision=bf16"), Contains("cpu (now cpu with precision = \"bf16\")"));
  CHECK_THAT(on("--set device.precision=bf16 --set device.gradients=bf16"),
             Contains("cpu (now cpu with precision = \"bf16\", gradients = \"bf16\")"));
  const std::string cuda = bent("kind = \"cpu\"\nmemory = \"24MiB\"", "kind = \"cuda\"");
  CHECK_THAT(on("", cuda), Contains("cpu (now cuda)"));
  CHECK_THAT(on("--set device.tf32=true", cuda), Contains("cpu (now cuda with tf32 = true)"));
  const std::string beside = bent("memory = \"24MiB\"", "memory = \"24MiB\"\n[[device]]\nkind = \"cuda\"");
  CHECK_THAT(on("", beside), Contains("cpu (now cpu and cuda)"));
}

TEST_CASE(
    "the default of what decides bits may be written out when a run is resumed, and devices may be others of the "
    "kind") {
  const temporary_folder folder;
  leave_run(folder);
  const auto said = check_resume(parse_workload(
      bent("memory = \"24MiB\"",
           "memory = \"1MiB\"\nthreads = 1\nprecision = \"fp32\"\ngradients = \"fp32\"\ncount = 3"), "w.toml",
      {parse_override("run.output=" + (folder.path() / "runs/w").string())}));
  CHECK(said == "");
}

TEST_CASE("nothing of a complete run is done again, and its files stay") {
  const temporary_folder folder;
  REQUIRE(resume(folder, example, "--quiet").status == 0);
  const auto files = [&] {
    std::string all;
    for (const char* name : {"report.json", "trace.json", "plan.json", "workload.toml"})
      all += folder.read(std::string{"runs/w/"} + name);
    return all;
  };
  const std::string before = files();
  const outcome again = resume(folder, bent("24MiB", "25MiB"));
  CHECK(again.status == 0);
  CHECK(again.out.empty());
  CHECK(again.err == "the run in \"runs/w\" is complete: nothing is left to do; hydra report runs/w shows it\n");
  CHECK(files() == before);
  CHECK(resume(folder, example, "--quiet").err.empty());
}

TEST_CASE("a complete run continues to more steps, and is refused fewer than are done") {
  const temporary_folder folder;
  REQUIRE(resume(folder, example, "--quiet").status == 0);
  const std::string before = folder.read("runs/w/workload.toml");
  const outcome fewer = resume(folder, example, "--set model.gpt.steps=2");
  CHECK(fewer.status == 2);
  CHECK_THAT(fewer.err,
             Contains("model 'gpt' cannot continue from runs/w/checkpoints/gpt/") && Contains("3 steps are done"));
  CHECK(folder.read("runs/w/workload.toml") == before);
  REQUIRE(resume(folder, example, "--quiet --set model.gpt.steps=5").status == 0);
  CHECK_THAT(folder.read("runs/w/workload.toml"), Contains("steps = 5"));
  folder.write("w.toml", bent("steps = 3", "steps = 5"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output whole").status == 0);
  CHECK(digest_of(folder, "runs/w") == digest_of(folder, "whole"));
}

TEST_CASE("a run is continued by its folder, as it has recorded its workload") {
  const temporary_folder folder;
  const std::string text =
      bent("kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"a.txt\"\ntokenizer = \"bytes\"");
  folder.write("a.txt", std::string(4000, 'a') + "b");
  REQUIRE(resume(folder, text, "--quiet").status == 0);
  fs::remove(folder.path() / "w.toml");
  const outcome afresh = run_hydra(folder, "train runs/w");
  CHECK(afresh.status == 2);
  CHECK_THAT(afresh.err, Contains("\"runs/w\" is the folder of a run: hydra train runs/w --resume continues it"));
  REQUIRE(run_hydra(folder, "train runs/w --resume --quiet --set model.gpt.steps=5").status == 0);
  folder.write("w.toml", text);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output whole --set model.gpt.steps=5").status == 0);
  CHECK(digest_of(folder, "runs/w") == digest_of(folder, "whole"));
}

TEST_CASE("a run is not continued by its folder where the paths of its workload do not start") {
  const temporary_folder folder, other;
  REQUIRE(resume(folder, example, "--quiet").status == 0);
  fs::copy(folder.path() / "runs", other.path() / "runs", fs::copy_options::recursive);
  const std::string before = other.read("runs/w/data.json");
  const outcome o = run_hydra(other, "train runs/w --resume --set model.gpt.steps=5");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("began in \"" + folder.path().string()) && Contains("continue it there: cd "));
  CHECK(other.read("runs/w/data.json") == before);
}

TEST_CASE("a run is continued by its folder from any working directory once the one where it began is gone") {
  const temporary_folder folder;
  const std::string text =
      bent("kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"a.txt\"\ntokenizer = \"bytes\"");
  const auto write_data = [](const temporary_folder& into) { into.write("a.txt", std::string(4000, 'a') + "b"); };
  {
    const temporary_folder first;
    write_data(first);
    REQUIRE(resume(first, text, "--quiet").status == 0);
    fs::copy(first.path() / "runs", folder.path() / "runs", fs::copy_options::recursive);
  }
  write_data(folder);
  const outcome o = run_hydra(folder, "train runs/w --resume --quiet --set model.gpt.steps=5");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  CHECK_THAT(folder.read("runs/w/data.json"), Contains(folder.path().string()));
}

TEST_CASE("a run that was killed before its report was written is reported when it is resumed") {
  const temporary_folder folder;
  REQUIRE(resume(folder, example, "--quiet").status == 0);
  fs::remove(folder.path() / "runs/w/report.json");
  CHECK(resume(folder, example, "--quiet").status == 0);
  CHECK_THAT(folder.read("runs/w/report.json"), Contains("\"finished\"") && !Contains("left_out"));
}

TEST_CASE("the report is written after the other files: it names those that could not be written") {
  const temporary_folder folder;
  for (const char* file : {"plan.json", "trace.json"})
    fs::create_directories(folder.path() / "runs/w" / file / "in the way");
  folder.write("runs/w/workload.toml", parse_workload(example, "w.toml").expanded);
  CHECK(resume(folder, example, "--quiet").status == 1);
  CHECK_THAT(folder.read("runs/w/report.json"), Contains("plan.json") && Contains("trace.json"));
}

TEST_CASE("an existing run folder without --resume is refused, and --resume is offered") {
  const temporary_folder folder;
  leave_run(folder);
  CHECK_THAT(refused(folder, run_hydra(folder, "train w.toml")), Contains("no such file"));
  folder.write("w.toml", example);
  CHECK_THAT(refused(folder, run_hydra(folder, "train w.toml")), Contains("exists") && Contains("--resume"));
}

}  // namespace hydra::apps::resume_test
