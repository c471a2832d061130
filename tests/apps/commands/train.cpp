#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps::train_test {

using Catch::Contains;
using Catch::StartsWith;

outcome train(const temporary_folder& folder, const std::string& text, const std::string& options = "") {
  folder.write("w.toml", text);
  return run_hydra(folder, "train w.toml " + options);
}

/// Refused before anything was made.
void check_refused(const outcome& o, const temporary_folder& folder, int status) {
  CHECK(o.status == status);
  CHECK(o.out.empty());
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_CASE("a wrong key ends with status 2 and says where it is, the file stays as it is") {
  const temporary_folder folder;
  const outcome o = train(folder, bent("batch_size", "batchsize"));
  check_refused(o, folder, 2);
  CHECK(folder.read("w.toml") == bent("batch_size", "batchsize"));
  CHECK_THAT(o.err, StartsWith("w.toml:15: model.batchsize: unknown key") && Contains("\"batch_size\""));
}

TEST_CASE("the folder of a checkpoint, and data, in place of a workload are answered with hydra init") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "base");
  folder.write("base/config.json", "{}");
  folder.write("my talks.jsonl", "{\"messages\": []}\n");
  folder.write("all.json", "[\n  {\"text\": \"a\"}\n]\n");
  for (const std::string command : {"train ", "plan ", "data "}) {
    INFO(command);
    const auto check = [&](const std::string& given, const std::string& why) {
      const outcome o = run_hydra(folder, command + given);
      check_refused(o, folder, 2);
      CHECK(o.err == why + " writes one\n");
    };
    check("base", "base: the folder of a checkpoint; a workload file (TOML) is expected: hydra init base DATA");
    check("'my talks.jsonl'",
          "my talks.jsonl: data (JSON lines); a workload file (TOML) is expected: hydra init FOLDER_OF_CHECKPOINT "
          "'my talks.jsonl'");
    check("all.json",
          "all.json: data (a JSON array of records); a workload file (TOML) is expected: hydra init "
          "FOLDER_OF_CHECKPOINT all.json");
  }
  CHECK_THAT(run_hydra(folder, "train runs").err, StartsWith("runs: no such file"));
}

TEST_CASE("data that do not suit their model end with status 2 before anything is started") {
  const temporary_folder folder;
  const outcome o = train(folder, bent("batch_size = 4", "batch_size = 60000"));
  check_refused(o, folder, 2);
  CHECK_THAT(o.err, StartsWith("w.toml:15: model.batch_size: ") && Contains("49999 training samples"));
}

TEST_CASE("a model that could not be saved says so, quiet or not, in its report, and is not exported") {
  const temporary_folder folder;
  folder.write("w.toml", bent("width = 8", "width = 64"));
  const outcome o = start_hydra(folder, "train w.toml --quiet", with_small_files(200));
  CHECK(o.status == 1);
  CHECK_THAT(o.out, Contains("finished, not saved"));
  CHECK_THAT(o.err, Contains("note: gpt could not be saved at its end: ") &&
                        Contains("exit status 1: 1 of 1 model could not be saved at the end"));
  const outcome again = run_hydra(folder, "report runs/w");
  CHECK(again.status == 0);
  CHECK(again.out == o.out);
  CHECK_THAT(again.err, Contains("note: gpt could not be saved at its end: "));
  CHECK(run_hydra(folder, "export runs/w gpt out").status == 2);
  CHECK(run_hydra(folder, "train w.toml --resume --quiet").status == 0);
  CHECK_THAT(run_hydra(folder, "report runs/w").out, !Contains("not saved"));
}

TEST_CASE("a note about files that two models read is printed once, quiet or not") {
  const temporary_folder folder;
  folder.write("texts.jsonl", "{\"text\": \"abcd\", \"lang\": \"en\"}\n");
  std::string text = bent("kind = \"synthetic-language\"", "kind = \"jsonl\"\ntrain = \"texts.jsonl\"");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1");
  text.replace(text.find("\"gpt\""), 5, "\"gpt{learning_rate}\"");
  text += "[model.grid]\nlearning_rate = [1e-3, 1e-4]\n";
  const std::string note = "texts.jsonl: fields that are not read: \"lang\"";
  for (const std::string options : {"--output a", "--output b --quiet"}) {
    const outcome o = train(folder, text, options);
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    CHECK(o.err.find(note) != o.err.npos);
    CHECK(o.err.find(note) == o.err.rfind(note));
  }
}

TEST_CASE("a terminal does not obey names of files in the workload of others, whichever command reads it") {
  const temporary_folder folder;
  folder.write("t\x1b]0;x\a.jsonl", "{\"text\": \"abcd\", \"lang\": \"en\"}\n");
  std::string text = bent("kind = \"synthetic-language\"", "kind = \"jsonl\"\ntrain = \"t\\u001b]0;x\\u0007.jsonl\"");
  text.replace(text.find("batch_size = 4"), 14, "batch_size = 1");
  text.replace(text.find("seed = 7"), 8, "seed = 7\noutput = \"r\\u001b]0;x\\u0007\"");
  folder.write("w.toml", text);
  for (const std::string command : {"plan w.toml", "data w.toml", "train w.toml", "train w.toml --resume"}) {
    const outcome o = run_hydra(folder, command);
    CAPTURE(command, o.err, o.out);
    CHECK(o.status == 0);
    CHECK_THAT(o.out + o.err, Contains("\\x1b]0;x\\x07") && !Contains("\x1b"));
  }
}

TEST_CASE("a run that cannot write its first files leaves no folder: the same command may be given again") {
  const temporary_folder folder;
  folder.write("w.toml", example + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n");
  const std::string command = "train w.toml --quiet --output there";
  const outcome full = start_hydra(folder, command, with_small_files(1));
  CHECK(full.status == 1);
  CHECK_THAT(full.err, StartsWith("cannot write there/"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "there"));
  CHECK(run_hydra(folder, command).status == 0);
}

TEST_CASE("a device budget too small ends with status 3 and numbers that help") {
  const temporary_folder folder;
  const outcome o = train(folder, bent("24MiB", "1KiB"));
  check_refused(o, folder, 3);
  CHECK_THAT(o.err, Contains("gpt") && Contains("KiB"));
}

TEST_CASE("an existing run folder is refused and left as it is") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "mine");
  folder.write("mine/report.json", "precious");
  const outcome o = train(folder, example, "--output mine");
  check_refused(o, folder, 2);
  CHECK_THAT(o.err, StartsWith("--output: run.output: ") && Contains("exists"));
  CHECK(folder.read("mine/report.json") == "precious");
}

TEST_CASE("an output that cannot be made, or of the file that exists, is refused by its place") {
  const temporary_folder folder;
  check_refused(train(folder, example, "--output /proc/run"), folder, 2);
  std::filesystem::create_directory(folder.path() / "mine");
  const outcome o = train(folder, bent("seed = 7", "output = \"mine\""));
  check_refused(o, folder, 2);
  CHECK_THAT(o.err, StartsWith("w.toml:2: run.output: ") && Contains("exists"));
}

TEST_CASE("an output or a working directory that is not UTF-8 is refused: the run could not be read again") {
  const temporary_folder folder;
  const outcome o = train(folder, example, "--output 'out\xff'");
  check_refused(o, folder, 2);
  CHECK_THAT(o.err, StartsWith("--output: run.output: ") && Contains("is not UTF-8"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out\xff"));
  std::filesystem::create_directory(folder.path() / "in\xff");
  const outcome inside = start_hydra(folder, "train ../w.toml", "cd 'in\xff' && ");
  CHECK(inside.status == 2);
  CHECK_THAT(inside.err, StartsWith("the working directory is not UTF-8: "));
  CHECK(std::filesystem::is_empty(folder.path() / "in\xff"));
}

TEST_CASE("an unknown policy on the command line is refused with the nearest") {
  const temporary_folder folder;
  const outcome o = train(folder, example, "--policy fifa");
  check_refused(o, folder, 2);
  CHECK_THAT(o.err, StartsWith("--policy: ") && Contains("\"fifo\""));
}

TEST_CASE("a workload is trained, its table printed and its run folder written") {
  const temporary_folder folder;
  const outcome o = train(folder, example + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n", "--quiet");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("gpt-1e-3") && Contains("gpt-3e-4") && Contains("finished"));
  CHECK(o.err.empty());
  for (const char* file : {"report.json", "trace.json", "plan.json", "workload.toml"})
    CHECK_FALSE(folder.read(std::filesystem::path{"runs/w"} / file).empty());
}

TEST_CASE("what is printed on closed streams goes into no file of the run") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra_with_streams(folder, "train w.toml", "<&- >&- 2>&-").status == 0);
  const std::string table = run_hydra(folder, "report runs/w").out;
  const std::string header = table.substr(0, table.find('\n'));
  CHECK_THAT(header, Contains("model"));
  for (const auto& file : std::filesystem::recursive_directory_iterator{folder.path() / "runs/w"}) {
    INFO(file.path());
    if (file.is_regular_file()) CHECK_THAT(folder.read(file.path()), !Contains(header));
  }
}

TEST_CASE("a run that keeps no checkpoint saves nothing, not even at its end") {
  const temporary_folder folder;
  REQUIRE(train(folder, example, "--quiet --set run.checkpoint.keep=0").status == 0);
  CHECK(std::filesystem::exists(folder.path() / "runs/w/report.json"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs/w/checkpoints"));
}

TEST_CASE("training again from the written workload gives the same digests") {
  const temporary_folder folder;
  REQUIRE(train(folder, example, "--quiet").status == 0);
  REQUIRE(run_hydra(folder, "train runs/w/workload.toml --policy fifo --output again --quiet").status == 0);
  const auto digest = [](const std::string& json) { return json.substr(json.find("sha256:"), 71); };
  CHECK_THAT(folder.read("runs/w/report.json"), Contains("sha256:"));
  CHECK(digest(folder.read("again/report.json")) == digest(folder.read("runs/w/report.json")));
}

TEST_CASE("a model that fails ends the program with status 1, the others finish") {
  const temporary_folder folder;
  const outcome o = train(folder,
                          bent("{ learning_rate = 1e-3 }", "{ kind = \"sgd\", learning_rate = 1e-3 }") +
                              "[model.grid]\nlearning_rate = [1e30, 1e-3]\n",
                          "--quiet");
  CHECK(o.status == 1);
  CHECK_THAT(o.out, Contains("failed") && Contains("finished"));
}

TEST_CASE("a trial that diverges fails with the reason and comes last, and the search goes on without it") {
  const temporary_folder folder;
  const outcome o = train(folder,
                          bent("{ learning_rate = 1e-3 }", "{ kind = \"sgd\", learning_rate = 1e-3 }") +
                              "[model.grid]\nlearning_rate = [1e30, 1e-3, 1e-2]\n"
                              "[search]\nkind = \"halving\"\nfirst = 1\nfactor = 2\n",
                          "--quiet");
  CHECK(o.status == 1);
  CHECK_THAT(o.out, Contains("failed: not finite: its validation after step 1 is nan; ") &&
                        Contains("stopped at rung 1: 2nd of 2, 1 continues") && Contains("finished"));
  CHECK(o.out.find("\ngpt-1e30") > o.out.find("stopped at rung 1"));
  CHECK(o.out.find("\ngpt-1e30") < o.out.find("\nhalving: 3 trials"));
}

}  // namespace hydra::apps::train_test
