#include "models/weights/hub_tensors.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace hydra::apps::export_test {

using Catch::Contains;

namespace fs = std::filesystem;

/// Trains a tiny GPT-2 from the checkpoint "tiny", and a perceptron that no other library knows, into "run".
void train_two(const temporary_folder& folder, const std::string& options = "") {
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
  const std::string mlp =
      "[data.points]\nkind = \"synthetic-classes\"\n[[model]]\nname = \"mlp\"\nchain = { family = \"mlp\", width = 4 "
      "}\n"
      "data = \"points\"\nbatch_size = 4\nsteps = 1\noptimizer = { learning_rate = 1e-3 }\n";
  std::string text =
      bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ from = \"tiny\" }");
  const std::string kind = "kind = \"synthetic-language\"\n";
  text.replace(text.find(kind), kind.size(), kind + "symbols = 8\n");
  folder.write("w.toml", text + mlp);
  const outcome trained = run_hydra(folder, "train w.toml --quiet --output run " + options);
  REQUIRE(trained.err == "");
  REQUIRE(trained.status == 0);
}

void check_refused(const outcome& o, const std::string& why) {
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, Contains(why));
}

/// Whether the values of a checkpoint differ from those that the run started with.
bool has_trained(const fs::path& exported, const fs::path& begin) {
  const hub_tensors after{exported}, before{begin};
  CHECK(after.all().size() == before.all().size());
  return std::ranges::none_of(after.all(), [&](const auto& e) {
    return std::ranges::equal(e.second.tensor.data, before.find(e.first)->tensor.data);
  });
}

/// Trains "w.toml" into "run" until there are checkpoints of a model between two steps and before step 3, and removes
/// all others: which steps are saved, and whether inside of the next one, depends on how long saving takes.
void train_with_older_checkpoints(const temporary_folder& folder, const std::string& model) {
  const fs::path saved = folder.path() / "run/checkpoints" / model;
  for (int tries = 0; tries < 10 && (!fs::exists(saved) || fs::is_empty(saved)); ++tries) {
    fs::remove_all(folder.path() / "run");
    REQUIRE(run_hydra(folder, "train w.toml --quiet --output run").status == 0);
    const std::vector<fs::directory_entry> all{fs::directory_iterator{saved}, fs::directory_iterator{}};
    for (const fs::directory_entry& e : all)
      if (e.path().filename().string().ends_with("-step-3") || !read_checkpoint(e.path()).whole_step())
        fs::remove_all(e.path());
  }
}

/// The step that the parameters of a model's newest checkpoint are of.
std::string newest_step(const fs::path& checkpoints) {
  fs::path newest;
  for (const fs::directory_entry& e : fs::directory_iterator{checkpoints}) newest = std::max(newest, e.path());
  return std::to_string(read_checkpoint(newest).versions.front().value);
}

TEST_CASE("a trained model is exported as a checkpoint that another run starts from") {
  const temporary_folder folder;
  train_two(folder);
  const outcome o = run_hydra(folder, "export run gpt out/");
  CHECK(o.err == "the weights of gpt after step 3 of 3\n");
  CHECK(o.out == "out\n");
  REQUIRE(o.status == 0);
  CHECK_THAT(folder.read("out/config.json"), Contains("GPT2LMHeadModel"));
  CHECK(has_trained(folder.path() / "out", folder.path() / "tiny"));
  const std::string from_tiny = "from = \"tiny\"";
  std::string again = folder.read("w.toml");
  again.replace(again.find(from_tiny), from_tiny.size(), "from = \"out\"");
  folder.write("again.toml", again);
  CHECK(run_hydra(folder, "train again.toml --quiet").status == 0);
}

TEST_CASE("a model in pieces has the weights of its checkpoint, and is exported, evaluated and continued as a whole") {
  const temporary_folder folder;
  train_two(folder);
  const std::string still = " --quiet --set model.gpt.optimizer.learning_rate=1e-30";
  REQUIRE(run_hydra(folder, "train w.toml --output whole" + still).status == 0);
  const outcome trained = run_hydra(folder, "train w.toml --output pieces --set model.gpt.parallel.pieces=2" + still);
  REQUIRE(trained.err == "");
  for (const std::string run : {"whole", "pieces"})
    REQUIRE(run_hydra(folder, "export " + run + " gpt out-" + run).status == 0);
  CHECK_FALSE(has_trained(folder.path() / "out-pieces", folder.path() / "tiny"));
  CHECK(folder.read("out-pieces/model.safetensors") == folder.read("out-whole/model.safetensors"));
  CHECK(folder.read("out-pieces/config.json") == folder.read("out-whole/config.json"));
  CHECK(run_hydra(folder, "evaluate pieces").status == 0);
  const std::string how = " --model gpt --prompt-ids '1 2' --tokens 3 --temperature 0";
  CHECK(run_hydra(folder, "generate pieces" + how).out == run_hydra(folder, "generate whole" + how).out);
}

TEST_CASE("a head that was trained apart from the embedding, which config.json ties, is read, named and exported so") {
  const temporary_folder folder;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors["lm_head.weight"] = test::ramp({8, 4}, 3);
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), tensors);
  std::string text =
      bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ from = \"tiny\" }");
  const std::string kind = "kind = \"synthetic-language\"\n";
  folder.write("w.toml", text.replace(text.find(kind), kind.size(), kind + "symbols = 8\n"));
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, Contains("notes:\n") && Contains("config.json ties tensors") &&
                                                       Contains("lm_head.weight and transformer.wte.weight"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output run").status == 0);
  REQUIRE(run_hydra(folder, "export run gpt out").status == 0);
  CHECK_THAT(folder.read("out/config.json"), Contains("\"tie_word_embeddings\": false"));
  CHECK(has_trained(folder.path() / "out", folder.path() / "tiny"));
}

TEST_CASE("frozen parameters are not in the run's checkpoint, but in what is exported, as the training began") {
  const temporary_folder folder;
  train_two(folder, "--set 'model.gpt.freeze=[\"*\", \"!*.ln_f.*\"]'");
  REQUIRE(run_hydra(folder, "export run gpt out").status == 0);
  const hub_tensors after{folder.path() / "out"}, before{folder.path() / "tiny"};
  REQUIRE(after.all().size() == before.all().size());
  for (const auto& [name, t] : after.all()) {
    INFO(name);
    CHECK(std::ranges::equal(t.tensor.data, before.find(name)->tensor.data) ==
          (name.find("ln_f") == std::string::npos));
  }
  const auto loss_of = [](const outcome& o) { return o.out.substr(o.out.find('.') - 1, 6); };
  const outcome of_run = run_hydra(folder, "evaluate run");
  std::string exported = folder.read("w.toml");
  exported.replace(exported.find("\"tiny\""), 6, "\"out\"");
  folder.write("e.toml", exported);
  const outcome of_export = run_hydra(folder, "evaluate e.toml");
  CHECK(of_run.out != "");
  CHECK(loss_of(of_run) == loss_of(of_export));
  const outcome ids = run_hydra(folder, "generate run --model gpt --prompt-ids '1 2' --tokens 3 --temperature 0");
  CHECK(ids.out == run_hydra(folder, "generate out --prompt-ids '1 2' --tokens 3 --temperature 0").out);
  fs::remove_all(folder.path() / "tiny");
  test::hub_test_tensors other = test::tiny_gpt2_tensors();
  std::swap(other.at("transformer.wte.weight").bytes.front(), other.at("transformer.wte.weight").bytes[5]);
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), other);
  check_refused(run_hydra(folder, "export run gpt out2"),
                "those that its training began with are not there any more: ");
  CHECK_THAT(run_hydra(folder, "export run gpt out2").err, Contains("model.safetensors has other values"));
  CHECK_THAT(run_hydra(folder, "train run/workload.toml --quiet --output run --resume").err,
             Contains("model.safetensors has other values than those that it began with"));
  CHECK(run_hydra(folder, "evaluate run").status == 2);
  check_refused(run_hydra(folder, "train w.toml --set 'model.gpt.freeze=[\"h.9.*\"]' --output other"),
                "\"freeze\" has \"h.9.*\", which no parameter of the model matches");
}

TEST_CASE("a state that is older than the run's last step is exported only if its step is asked for") {
  const temporary_folder folder;
  folder.write("w.toml", bent("seed = 7", "seed = 7\ncheckpoint = { every_steps = 1, keep = 3 }"));
  train_with_older_checkpoints(folder, "gpt");
  const fs::path saved = folder.path() / "run/checkpoints/gpt";
  const std::string step = newest_step(saved);
  check_refused(run_hydra(folder, "export run gpt out"), "gpt has reached step 3, but step " + step + " is saved");
  check_refused(run_hydra(folder, "export run gpt out --step 3"),
                "has no checkpoint with the parameters after step 3; there are: 00000");
  check_refused(run_hydra(folder, "export run gpt out --step 3"), "(after step " + step + ")");
  CHECK_FALSE(fs::exists(folder.path() / "out"));
  const outcome asked = run_hydra(folder, "export run gpt out --step " + step);
  CHECK(asked.status == 0);
  CHECK_THAT(asked.err, Contains("after step " + step + " of 3"));
}

TEST_CASE("a model that was evaluated without its best state being kept says so, and which states there are") {
  const temporary_folder folder;
  train_two(folder);  // a model is evaluated at its end
  check_refused(
      run_hydra(folder, "export run gpt out --best"),
      "run/checkpoints/gpt has no checkpoint of a best evaluation: it was evaluated, but its best state was not kept, "
      "as validate = { every_steps = N, keep_best = true } does; without --best it is the state after step 3");
}

TEST_CASE("values that are not finite, and a model that has failed by them, are exported only if that is asked for") {
  const temporary_folder folder;
  const std::string diverging = "--set model.gpt.optimizer.learning_rate=1e30";
  train_two(folder, "--set model.gpt.on_nan=ignore " + diverging);
  check_refused(run_hydra(folder, "export run gpt out"), " are not finite: its training has diverged. ");
  CHECK_FALSE(fs::exists(folder.path() / "out"));
  CHECK(run_hydra(folder, "export run gpt out --ignore-nan").status == 0);
  CHECK(run_hydra(folder, "train w.toml --quiet --output bad " + diverging).status == 1);
  fs::remove_all(folder.path() / "bad/checkpoints/gpt");
  fs::copy(folder.path() / "run/checkpoints/gpt", folder.path() / "bad/checkpoints/gpt", fs::copy_options::recursive);
  check_refused(run_hydra(folder, "export bad gpt other"), "gpt has failed: the loss of step 2 is nan; ");
  check_refused(run_hydra(folder, "export bad gpt other"), "Export a state from before that by --step 3, or the");
  check_refused(run_hydra(folder, "export bad gpt other --step 9"),
                "has no checkpoint with the parameters after step 9");
}

TEST_CASE("of a model that has diverged before a state was saved nothing is advised that cannot work") {
  const temporary_folder folder;
  train_two(folder);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output bad --set model.gpt.optimizer.learning_rate=1e30").status ==
          1);
  fs::remove_all(folder.path() / "bad/checkpoints/gpt");
  for (const char* command : {"export bad gpt out", "export bad gpt out --ignore-nan", "export bad gpt out --step 1",
                              "generate bad --model gpt --prompt-ids 1", "evaluate bad gpt"}) {
    const outcome o = run_hydra(folder, command);
    CAPTURE(command);
    check_refused(o, "gpt has failed: the loss of step 2 is nan; ");
    CHECK_THAT(o.err, Contains(". No whole step of it is saved: no checkpoint is there. Train it again, in another") &&
                          !Contains("--resume") && !Contains("--step") && !Contains("--best"));
  }
}

TEST_CASE("a state whose values are not finite names the newest one before it, if there is one") {
  const temporary_folder folder;
  train_two(folder, "--set model.gpt.on_nan=ignore --set model.gpt.optimizer.learning_rate=1e30");
  check_refused(run_hydra(folder, "export run gpt out"), "No state from before that is saved; export this one by");
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output short --set model.gpt.steps=1").status == 0);
  const fs::path saved = folder.path() / "run/checkpoints/gpt", earlier = "000001-step-1";
  fs::rename(saved / "000001-step-3", saved / "000002-step-3");
  fs::copy(folder.path() / "short/checkpoints/gpt" / earlier, saved / earlier, fs::copy_options::recursive);
  check_refused(run_hydra(folder, "export run gpt out"),
                "Export a state from before that by --step 1, or this one by --ignore-nan");
}

TEST_CASE("what cannot be exported is refused with exit status 2, and nothing is written") {
  const temporary_folder folder;
  train_two(folder);
  check_refused(run_hydra(folder, "export run mlp out"), "a model of family mlp cannot be exported");
  check_refused(run_hydra(folder, "export run gtp out"), "there is no model \"gtp\"; did you mean \"gpt\"?");
  check_refused(run_hydra(folder, "export tiny gpt out"), "is not a run folder");
  check_refused(run_hydra(folder, "export run gpt no/such"), "there is no folder");
  check_refused(run_hydra(folder, "export run gpt ''"), "the folder to export into has no name");
  check_refused(run_hydra(folder, "export run gpt " + std::string(300, 'a')), "aaa…: File name too long");
  check_refused(run_hydra(folder, "export " + std::string(300, 'a') + " gpt out"), "File name too long");
  check_refused(run_hydra(folder, "export run gpt tiny"), "\"tiny\" exists and is not overwritten");
  check_refused(run_hydra(folder, "export run gpt out --best"), "best evaluation");
  fs::rename(folder.path() / "run/workload.toml", folder.path() / "kept.toml");
  check_refused(run_hydra(folder, "export run gpt out"), "\"run\" is the run of a C++ program");
  fs::rename(folder.path() / "kept.toml", folder.path() / "run/workload.toml");
  fs::remove_all(folder.path() / "run/checkpoints");
  check_refused(run_hydra(folder, "export run gpt out"), "no whole step of gpt is saved yet");
  CHECK_FALSE(fs::exists(folder.path() / "out"));
}

TEST_CASE("a run is refused another checkpoint under the same name") {
  const temporary_folder folder;
  train_two(folder);
  test::hub_test_tensors others = test::tiny_gpt2_tensors();
  others["transformer.wte.weight"] = test::ramp({8, 4}, -3);
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), others);
  const outcome o = run_hydra(folder, "train w.toml --resume --output run");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("weights: "));
}

TEST_CASE("a checkpoint that is damaged ends a training run before it starts") {
  const temporary_folder folder;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors.erase("transformer.ln_f.bias");
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), tensors);
  folder.write("w.toml",
               bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ from = \"tiny\" }"));
  const outcome o = run_hydra(folder, "train w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("w.toml:13: model.chain"));
  CHECK_FALSE(fs::exists(folder.path() / "runs"));
}

TEST_CASE("the settings of the checkpoint that a model was started from are exported with it") {
  const temporary_folder folder;
  train_two(folder);
  folder.write("tiny/generation_config.json", "{\"eos_token_id\": [3, 4]}");
  folder.write("tiny/chat_template.jinja", "template");
  REQUIRE(run_hydra(folder, "export run gpt out").status == 0);
  CHECK(folder.read("out/generation_config.json") == "{\"eos_token_id\": [3, 4]}");
  CHECK(folder.read("out/chat_template.jinja") == "template");
  CHECK_FALSE(fs::exists(folder.path() / "out/preprocessor_config.json"));
}

TEST_CASE("an export ends no text with a token that the model has no row for") {
  const temporary_folder folder;
  train_two(folder);
  const auto ends_of = [&](const std::string& out, const std::string& note) {
    const outcome o = run_hydra(folder, "export run gpt " + out);
    CHECK(o.status == 0);
    CHECK_THAT(o.err, Contains(note));
    const auto end_in = [&](const char* file) {
      return nlohmann::json::parse(folder.read(out + file))["eos_token_id"];
    };
    CHECK(end_in("/config.json") == end_in("/generation_config.json"));
    return end_in("/config.json");
  };
  folder.write("tiny/generation_config.json", R"({"eos_token_id": [8, 3]})");
  CHECK(ends_of("some", "note: eos_token_id: 8 left out: the model has rows for 8 tokens only") == 3);
  folder.write("tiny/generation_config.json", R"({"eos_token_id": 50256})");
  CHECK(ends_of("none", "note: eos_token_id: 50256 left out").is_null());
  CHECK(run_hydra(folder, "generate none --prompt-ids 1 --tokens 1").status == 0);
}

TEST_CASE("a tokenizer that cannot be copied is reported before a weight is written") {
  const temporary_folder folder;
  folder.write("corpus.txt", std::string(400, 'a'));
  fs::create_directory(folder.path() / "words");
  folder.write("words/vocab.json", "{\"a\": 0, \"aa\": 1}");
  folder.write("words/merges.txt", "a a\n");
  folder.write("w.toml", bent("kind = \"synthetic-language\"",
                              "kind = \"text\"\ntrain = \"corpus.txt\"\ntokenizer = { file = \"words\" }"));
  const outcome trained = run_hydra(folder, "train w.toml --quiet --output run");
  REQUIRE(trained.err == "");
  REQUIRE(run_hydra(folder, "export run gpt out").status == 0);
  CHECK(folder.read("out/merges.txt") == "a a\n");
  CHECK(folder.read("out/vocab.json") == folder.read("words/vocab.json"));
  fs::remove(folder.path() / "words/vocab.json");
  fs::remove(folder.path() / "words/merges.txt");
  check_refused(run_hydra(folder, "export run gpt again"), "words: the folder has no tokenizer.json");
  CHECK_FALSE(fs::exists(folder.path() / "again"));
}

TEST_CASE("the classes of an export are called as they were trained, and found by these names in any data") {
  const temporary_folder folder;
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\nthree\n");
  std::string lines;
  for (const char* text : {"one", "one two", "one three", "one one"})
    lines +=
        fmt::format("{{\"text\": \"{0}\", \"label\": \"pos\"}}\n{{\"text\": \"two {0}\", \"label\": \"neg\"}}\n", text);
  folder.write("d.jsonl", lines);
  folder.write("v.jsonl", lines);
  const auto workload = [](const std::string& from, const std::string& labels) {
    return "[run]\nseed = 1\n[[device]]\nkind = \"cpu\"\nmemory = \"64MiB\"\n[data.d]\nkind = \"jsonl\"\ntrain = "
           "\"d.jsonl\"\n"
           "validation = \"v.jsonl\"\nlabel = \"label\"\ntokenizer = { vocab = \"vocab.txt\" }\n" +
           labels + "[[model]]\nname = \"m\"\nchain = " + from +
           "\ndata = \"d\"\nbatch_size = 4\nsteps = 20\n"
           "optimizer = { learning_rate = 1e-2 }\n";
  };
  const std::string chain =
      "{ family = \"bert\", head = \"classification\", layers = 1, width = 8, heads = 2, context = 6, vocabulary = 8 }";
  folder.write("w.toml", workload(chain, "labels = [\"pos\", \"neg\"]\n"));
  folder.write("again.toml", workload("{ from = \"out\" }", ""));
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output run").status == 0);
  REQUIRE(run_hydra(folder, "export run m out").status == 0);
  CHECK(nlohmann::json::parse(folder.read("out/config.json"))["id2label"] ==
        nlohmann::json{{"0", "pos"}, {"1", "neg"}});
  const auto loss = [&](const std::string& source) {
    return nlohmann::json::parse(run_hydra(folder, "evaluate --json " + source).out).at(0).at("loss").get<double>();
  };
  CHECK(loss("again.toml") == loss("run"));
  const std::string other = "again.toml --set 'data.d.labels=[\"neg\", \"pos\"]'";
  CHECK(loss(other) > loss("run"));
  CHECK_THAT(run_hydra(folder, "plan " + other).out,
             Contains("class 0 is \"pos\" in id2label and \"neg\" in jsonl d.jsonl"));
  CHECK_THAT(run_hydra(folder, "plan again.toml").out, !Contains("notes:"));
}

}  // namespace hydra::apps::export_test
