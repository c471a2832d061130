#include "models/families/hub_folder.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>

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
  CHECK_THAT(run_hydra(folder, "train w.toml --base moved --output new").err, Contains("--base") && Contains("--resume"));
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
