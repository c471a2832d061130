// Everything a user may get wrong, through the program: the status, where the answer points, and that nothing was
// started or overwritten.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

struct bad_input {
  const char* what;
  std::string text;   ///< of w.toml
  std::string where;  ///< the answer starts with it
  std::string says;   ///< and contains this
  int status = 2;
};

std::string data_of(const std::string& lines) { return bent("kind = \"synthetic-language\"", lines); }
std::string model_with(const std::string& line) { return bent("steps = 3", "steps = 3\n" + line); }
std::string optimizer_of(const std::string& keys) { return bent("{ learning_rate = 1e-3 }", "{ " + keys + " }"); }

/// No run folder, no result, the inputs as they were.
void check_refused(const bad_input& b, const temporary_folder& folder, const std::string& options = "") {
  folder.write("w.toml", b.text);
  const outcome o = run_hydra(folder, "train w.toml --quiet " + options);
  INFO(b.what << "\n" << o.err);
  CHECK(o.status == b.status);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, StartsWith(b.where) && Contains(b.says));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  CHECK(folder.read("w.toml") == b.text);
}

void check_all_refused(const std::vector<bad_input>& all) {
  const temporary_folder folder;
  for (const bad_input& b : all) check_refused(b, folder);
}

}  // namespace

TEST_CASE("unknown keys, names and kinds are refused with the nearest known one, nothing is started") {
  check_all_refused({
      {"key", bent("batch_size", "batchsize"), "w.toml:15: model.batchsize: ", "mean \"batch_size\""},
      {"key further down", bent("heads = 2", "haeds = 2"), "w.toml:13: model.chain.haeds: ", "mean \"heads\""},
      {"table", bent("[run]", "[rnu]"), "w.toml:1: rnu: ", "mean \"run\""},
      {"policy", bent("seed = 7", "policy = \"lrtf\""), "w.toml:2: run.policy: ", "sharded-lrtf"},
      {"family", bent("\"gpt2\"", "\"gpt\""), "w.toml:13: model.chain.family: ", "mean \"gpt2\""},
      {"kind of device", bent("\"cpu\"", "\"cuda9\""), "w.toml:5: device.kind: ", "mean \"cuda\""},
      {"kind of data", data_of("kind = \"synthetic\""), "w.toml:9: data.language.kind: ", "synthetic-"},
      {"data", bent("data = \"language\"", "data = \"langage\""), "w.toml:14: model.data: ", "mean \"language\""},
      {"optimizer", optimizer_of("kind = \"adam\", learning_rate = 1"), "w.toml:17: model.optimizer.kind: ", "adamw"},
      {"key of a grid", model_with("grid = { lerning_rate = [1] }"),
       "w.toml:17: model.grid.lerning_rate: ", "mean \"learning_rate\""},
      {"ambiguous key of a grid", model_with("grid = { kind = [\"sgd\"] }"), "w.toml:17: model.grid.kind: ambiguous",
       "optimizer.kind or schedule.kind"},
  });
}

TEST_CASE("wrong types and numbers are refused with what is allowed, nothing is started") {
  check_all_refused({
      {"text for a number", bent("steps = 3", "steps = \"3\""), "w.toml:16: model.steps: ", "an integer"},
      {"number for a text", bent("\"gpt\"", "3"), "w.toml:12: model.name: ", "a text"},
      {"number for a table", bent("{ learning_rate = 1e-3 }", "1e-3"), "w.toml:17: model.optimizer: ", "a table"},
      {"fraction for an integer", bent("batch_size = 4", "batch_size = 4.5"), "w.toml:15: model.batch_size: ", "4.5"},
      {"negative", bent("batch_size = 4", "batch_size = -4"), "w.toml:15: model.batch_size: ", "at least 1"},
      {"zero", bent("batch_size = 4", "batch_size = 0"), "w.toml:15: model.batch_size: ", "at least 1"},
      {"NaN", optimizer_of("learning_rate = nan"), "w.toml:17: model.optimizer.learning_rate: nan", "above 0"},
      {"infinite", optimizer_of("learning_rate = inf"), "w.toml:17: model.optimizer.learning_rate: inf", "above 0"},
      {"beyond 64 bits", bent("steps = 3", "steps = 99999999999999999999"), "w.toml:16: ", "not valid TOML"},
      {"beyond 32 bits", bent("steps = 3", "steps = 4294967297"), "w.toml:16: model.steps: 4294967297", "at most"},
      {"a rate beyond doubles", optimizer_of("learning_rate = 1e999"), "w.toml:17: ", ""},
      {"a size beyond 64 bits", bent("24MiB", "99999999999TiB"), "w.toml:6: device.memory: ", "99999999999TiB"},
      {"no unit", bent("24MiB", "24 sheep"), "w.toml:6: device.memory: ", "24 sheep"},
      {"truncated", example.substr(0, example.size() - 4), "w.toml:17: not valid TOML", ""},
      {"not TOML", "{}", "w.toml:1: not valid TOML", ""},
      {"empty", "", "w.toml:1: device: missing", "[[device]]"},
  });
}

TEST_CASE("keys that do not go together are refused, nothing is started") {
  const std::string model = example.substr(example.find("[[model]]"));
  check_all_refused({
      {"heads", bent("heads = 2", "heads = 3"), "w.toml:13: model.chain: ", "heads"},
      {"micro-batches", model_with("micro_batches = 3"), "w.toml:17: model.micro_batches: 3 ", "evenly"},
      {"more micro-batches than samples", model_with("micro_batches = 8"), "w.toml:17: model.micro_batches: 8 ", "4"},
      {"context longer than the data", bent("context = 4", "context = 300000"), "w.toml:8: data.language: ", "300000"},
      {"data shorter than a batch", bent("batch_size = 4", "batch_size = 60000"),
       "w.toml:15: model.batch_size: ", "49999 training samples"},
      {"features for a language model", data_of("kind = \"synthetic-classes\""), "w.toml:", "gpt2"},
      {"a small vocabulary", bent("heads = 2", "heads = 2, vocabulary = 3"), "w.toml:13: model.chain: ", "3"},
      {"cuts behind the end", model_with("cuts = [0, 9]"), "w.toml:17: model.cuts: ", "9"},
      {"steps and epochs", model_with("epochs = 1"), "w.toml:16: model.steps: ", "exactly one"},
      {"a name twice", example + model, "w.toml:19: model.name: \"gpt\" is used twice", "w.toml:11"},
      {"a name twice by a grid", model_with("grid = { seed = [1, 1] }"),
       "w.toml:12: model.name: \"gpt-1\" is used twice", ""},
      {"no device", bent("[[device]]\nkind = \"cpu\"\nmemory = \"24MiB\"\n", ""), "w.toml:1: device: missing", ""},
      {"no devices of a kind", bent("memory = \"24MiB\"", "memory = 1\ncount = 0"), "w.toml:7: device.count: 0 ", ""},
  });
}

TEST_CASE("files that cannot be used are refused by name, nothing is started") {
  const temporary_folder folder;
  folder.write("empty.txt", "");
  folder.write("latin.txt", "caf\xE9 au lait, s'il vous plait");
  folder.write("short.txt", "abc");
  folder.write("three.bin", "abc");
  std::filesystem::create_directory(folder.path() / "folder");
  std::filesystem::create_symlink("nowhere", folder.path() / "dangling");
  const auto text = [](const std::string& file) { return data_of("kind = \"text\"\ntrain = \"" + file + "\""); };
  const auto tokens = data_of("kind = \"tokens\"\nvocabulary = 9\ntrain = \"three.bin\"");
  for (const bad_input& b :
       std::vector<bad_input>{{"missing", text("none.txt"), "w.toml:10: data.language.train: ", "none.txt"},
                              {"empty", text("empty.txt"), "w.toml:10: data.language.train: ", "is empty"},
                              {"a folder", text("folder"), "w.toml:10: data.language.train: ", "is a folder"},
                              {"a dangling link", text("dangling"), "w.toml:10: data.language.train: ", "dangling"},
                              {"not UTF-8", text("latin.txt"), "w.toml:8: data.language: ", "latin.txt"},
                              {"shorter than a sample", text("short.txt"), "w.toml:8: data.language: ", "short.txt"},
                              {"no whole token", tokens, "w.toml:8: data.language: ", "three.bin"}})
    check_refused(b, folder);
}

TEST_CASE("files that may not be read are refused by name, nothing is started") {
  if (::geteuid() == 0) {
    WARN("root may read everything: not tested");
    return;
  }
  const temporary_folder folder;
  std::filesystem::permissions(folder.write("secret.txt", "text"), std::filesystem::perms::none);
  check_refused({"secret", data_of("kind = \"text\"\ntrain = \"secret.txt\""),
                 "w.toml:10: data.language.train: ", "cannot be read"},
                folder);
}

TEST_CASE("a workload file that cannot be used is refused by name, nothing is started") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "folder.toml");
  std::filesystem::create_symlink("nowhere", folder.path() / "dangling.toml");
  folder.write("latin.toml", "[run]\nname = \"caf\xE9\"\n");
  for (const auto& [file, answer] :
       std::vector<std::pair<std::string, std::string>>{{"none.toml", "no such file"},
                                                        {"folder.toml", "folder"},
                                                        {"dangling.toml", "no such file"},
                                                        {"latin.toml", "2: not valid TOML"}}) {
    const outcome o = run_hydra(folder, "train " + file);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, StartsWith(file + ":") && Contains(answer));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  }
}

TEST_CASE("budgets that are too small end with status 3 and say how much is needed, nothing is started") {
  check_all_refused({
      {"device", bent("24MiB", "2KiB"), "", "KiB", 3},
      {"host", bent("seed = 7", "[host]\nmemory = \"3KiB\""), "", "KiB", 3},
      {"one device of two", example + "[[device]]\nkind = \"cpu\"\nmemory = \"2KiB\"\n", "", "cpu:1", 3},
  });
}

TEST_CASE("outputs that exist or cannot be made are refused and left as they are, nothing is started") {
  const temporary_folder folder;
  folder.write("file", "precious");
  std::filesystem::create_directory(folder.path() / "mine");
  folder.write("mine/report.json", "precious");
  std::filesystem::create_symlink("nowhere", folder.path() / "dangling");
  for (const char* output : {"mine", "file", "dangling", "file/below", "/proc/run", "''"})
    check_refused({output, example, "--output: run.output: ", ""}, folder, std::string{"--output "} + output);
  check_refused({"in the file", bent("seed = 7", "output = \"mine\""), "w.toml:2: run.output: ", "exists"}, folder);
  CHECK(folder.read("mine/report.json") == "precious");
  CHECK(folder.read("file") == "precious");
}

}  // namespace hydra::apps
