#include "models/families/hub_folder.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace hydra::apps::base_option_test {

using Catch::Contains;

namespace fs = std::filesystem;

/// A checkpoint of a tiny GPT-2; another one has another first value.
void write_base(const temporary_folder& folder, const std::string& name, bool another = false) {
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  auto& bytes = tensors.at("transformer.wte.weight").bytes;
  if (another) std::swap(bytes.front(), bytes[5]);
  test::write_checkpoint(folder.path() / name, test::tiny_gpt2_config(), tensors);
}

/// Of these [[model]] keys, which follow "chain".
std::string workload_from(const std::string& base, const std::string& more = "adapter = { rank = 2 }") {
  std::string text = bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }",
                          "{ from = \"" + base + "\" }\n" + more);
  const std::string kind = "kind = \"synthetic-language\"\n";
  return text.replace(text.find(kind), kind.size(), kind + "symbols = 8\n");
}

void train(const temporary_folder& folder, const std::string& options) {
  const outcome trained = run_hydra(folder, "train w.toml --quiet " + options);
  CAPTURE(trained.err);
  REQUIRE(trained.status == 0);
}

void move(const temporary_folder& folder, const std::string& from, const std::string& to) {
  fs::rename(folder.path() / from, folder.path() / to);
}

std::string digest_of(const temporary_folder& folder, const std::string& run) {
  const std::string report = folder.read(run + "/report.json");
  return report.substr(report.find("sha256:"), 71);
}

void check_refused(const outcome& o, const std::string& why, const std::string& digest) {
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, Contains(why) && Contains(digest));
}

TEST_CASE("a run whose base has moved is evaluated, exported and continued in text with --base, as where it was") {
  const temporary_folder folder;
  write_base(folder, "tiny");
  write_base(folder, "other", true);
  folder.write("w.toml", workload_from("tiny"));
  train(folder, "--output run");
  const std::string ids = "--prompt-ids '1 2' --tokens 3 --temperature 0";
  const std::string evaluated = run_hydra(folder, "evaluate run").out;
  const std::string written = run_hydra(folder, "generate run " + ids).out;
  REQUIRE_FALSE(evaluated.empty());
  const std::string digest = weights_identity(folder.path() / "tiny");
  move(folder, "tiny", "moved");
  for (const std::string command : {"evaluate run", "export run gpt lora", "generate run --prompt-ids 1"}) {
    INFO(command);
    check_refused(run_hydra(folder, command), "which gpt began from, is not there: give its folder by --base", digest);
    check_refused(run_hydra(folder, command + " --base other"), weights_identity(folder.path() / "other"), digest);
  }
  CHECK(run_hydra(folder, "evaluate run --base moved").out == evaluated);
  CHECK(run_hydra(folder, "generate run --base moved " + ids).out == written);
  REQUIRE(run_hydra(folder, "export run gpt merged --merge --base moved").status == 0);
  CHECK(run_hydra(folder, "generate merged " + ids).out == written);
}

/// What reads a run over a base; the exports differ in what they write.
void check_refused_by_all(const temporary_folder& folder, const std::string& option, const std::string& why) {
  for (const std::string command : {"evaluate run", "export run gpt lora", "export run gpt merged --merge",
                                    "generate run --tokens 1 --prompt ab"}) {
    const outcome o = run_hydra(folder, command + option);
    INFO(command << option << " -> " << o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Contains(why) && Contains("--base"));
  }
  CHECK_FALSE(fs::exists(folder.path() / "lora"));
  CHECK_FALSE(fs::exists(folder.path() / "merged"));
}

/// A tokenizer of the bytes, "ab" as a token and these.
void write_tokenizer(const temporary_folder& folder, const std::string& name, const std::string& special) {
  folder.write("learn.txt", "abab abab");
  const std::string command = "tokenize learn.txt --train 260 --output " + name + " --special ";
  REQUIRE(run_hydra(folder, command + special).status == 0);
}

/// "run": an adapter of the checkpoint "tiny", which has settings and a tokenizer.
void train_over_tokenizer(const temporary_folder& folder) {
  nlohmann::json config = test::tiny_gpt2_config();
  config["vocab_size"] = 300;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors["transformer.wte.weight"] = test::ramp({300, 4}, 1);
  test::write_checkpoint(folder.path() / "tiny", config, tensors);
  write_tokenizer(folder, "tiny/tokenizer.json", "first");
  folder.write("corpus.txt", std::string(400, 'a'));
  std::string text = workload_from("tiny");
  const std::string kind = "kind = \"synthetic-language\"\nsymbols = 8\n";
  folder.write("w.toml", text.replace(text.find(kind), kind.size(),
                                      "kind = \"text\"\ntrain = \"corpus.txt\"\nvalidation = \"corpus.txt\"\n"));
  train(folder, "--output run");
}

TEST_CASE("a run is read over a base of other settings by no command, whether it was changed or given by --base") {
  const temporary_folder folder;
  train_over_tokenizer(folder);
  fs::copy(folder.path() / "tiny", folder.path() / "other");
  const std::string kept = folder.read("tiny/config.json");
  nlohmann::json changed = nlohmann::json::parse(kept);
  changed["layer_norm_epsilon"] = 0.25;
  folder.write("other/config.json", changed.dump());
  const std::string settings = "config.json has now: 1 x transformer block: ", values = "(saved), eps=0.25";
  check_refused_by_all(folder, " --base other", (folder.path() / "other").string() + "/" + settings);
  folder.write("tiny/config.json", changed.dump());
  check_refused_by_all(folder, "", (folder.path() / "tiny").string() + "/" + settings);
  check_refused_by_all(folder, "", values);
  const outcome resumed = run_hydra(folder, "train w.toml --resume --quiet --output run");
  CHECK_THAT(resumed.err, Contains("chain: 1 x transformer block: ") && Contains(values) && !Contains("heads="));
  folder.write("tiny/config.json", kept);
  CHECK(run_hydra(folder, "evaluate run").status == 0);
  CHECK(run_hydra(folder, "export run gpt lora").status == 0);
}

TEST_CASE("a run is read over a base with another tokenizer by no command, unless generate is given one by name") {
  const temporary_folder folder;
  train_over_tokenizer(folder);
  fs::copy(folder.path() / "tiny", folder.path() / "other");
  write_tokenizer(folder, "second.json", "second");
  fs::copy_file(folder.path() / "second.json", folder.path() / "other/tokenizer.json",
                fs::copy_options::overwrite_existing);
  check_refused_by_all(folder, " --base other", "other/tokenizer.json). Put its files back as they were");
  const std::string named = "generate run --base other --prompt ab --tokens 1 --tokenizer second.json";
  CHECK(run_hydra(folder, named).status == 0);
  CHECK(run_hydra(folder, "evaluate run").status == 0);
  fs::copy_file(folder.path() / "second.json", folder.path() / "tiny/tokenizer.json",
                fs::copy_options::overwrite_existing);
  check_refused_by_all(folder, "", "tiny/tokenizer.json). Put its files back as they were");
}

TEST_CASE("an adapter whose base has moved generates with --base, and not over another base") {
  const temporary_folder folder;
  write_base(folder, "tiny");
  write_base(folder, "other", true);
  folder.write("w.toml", workload_from("tiny"));
  train(folder, "--output run");
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  const std::string command = "generate lora --prompt-ids '1 2' --tokens 3 --temperature 0";
  const std::string written = run_hydra(folder, command).out;
  move(folder, "tiny", "moved");
  CHECK_THAT(run_hydra(folder, command).err, Contains("by --base FOLDER"));
  CHECK(run_hydra(folder, command + " --base moved").out == written);
  CHECK_THAT(run_hydra(folder, command + " --base other").err, Contains("is an adapter of another base"));
  CHECK_THAT(run_hydra(folder, command + " --base moved --base other").err, Contains("an adapter has one base"));
}

TEST_CASE("a run whose base has moved is resumed with --base, has the same bits, and records where it is now") {
  const temporary_folder folder;
  write_base(folder, "tiny");
  folder.write("w.toml", workload_from("tiny"));
  train(folder, "--output whole --set model.steps=5");
  train(folder, "--output run");
  move(folder, "tiny", "moved");
  const std::string command = "train w.toml --quiet --resume --output run --set model.steps=5";
  CHECK_THAT(run_hydra(folder, command).err, Contains("w.toml:") && Contains("model.chain.from") && Contains("--base"));
  const outcome resumed = run_hydra(folder, command + " --base moved");
  CAPTURE(resumed.err);
  REQUIRE(resumed.status == 0);
  CHECK(digest_of(folder, "run") == digest_of(folder, "whole"));
  CHECK_THAT(folder.read("run/workload.toml"), Contains((folder.path() / "moved").string()));
  CHECK(run_hydra(folder, "evaluate run").status == 0);
  CHECK_THAT(run_hydra(folder, "train run --resume").err, Contains("is complete"));
  CHECK_THAT(run_hydra(folder, "train w.toml --base moved --output new").err,
             Contains("--base") && Contains("--resume"));
}

TEST_CASE("each model takes the --base that has the weights it began from, whatever their order") {
  const temporary_folder folder;
  write_base(folder, "tiny");
  write_base(folder, "other", true);
  const std::string model = workload_from("other");
  std::string second = model.substr(model.find("[[model]]"));
  folder.write("w.toml", workload_from("tiny") + second.replace(second.find("\"gpt\""), 5, "\"more\""));
  train(folder, "--output run");
  const std::string evaluated = run_hydra(folder, "evaluate run").out;
  move(folder, "tiny", "a");
  move(folder, "other", "b");
  CHECK(run_hydra(folder, "evaluate run --base b --base a").out == evaluated);
  check_refused(run_hydra(folder, "evaluate run --base a"), "which more began from, is not there",
                weights_identity(folder.path() / "b"));
}

TEST_CASE("--base is refused where nothing was recorded, and for what is not the folder of a checkpoint") {
  const temporary_folder folder;
  write_base(folder, "tiny");
  folder.write("w.toml", workload_from("tiny"));
  CHECK_THAT(run_hydra(folder, "evaluate w.toml --base tiny").err, Contains("is not a run folder"));
  CHECK_THAT(run_hydra(folder, "generate tiny --prompt-ids 1 --base tiny").err, Contains("which needs no base"));
  CHECK_THAT(run_hydra(folder, "train w.toml --resume --base tiny").err, Contains("\"runs/w\" is not a run folder"));
  train(folder, "--output run");
  CHECK_THAT(run_hydra(folder, "evaluate run --base w.toml").err, Contains("--base: \"w.toml\" is not a folder"));
}

}  // namespace hydra::apps::base_option_test
