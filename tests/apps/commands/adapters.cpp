#include "models/weights/hub_tensors.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace hydra::apps::adapters_test {

using Catch::Contains;

namespace fs = std::filesystem;

/// "w.toml": a tiny GPT-2 that starts from the checkpoint "tiny", with this adapter.
void write_workload(const temporary_folder& folder, const std::string& adapter) {
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
  std::string text = bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }",
                          "{ from = \"tiny\" }\nadapter = " + adapter);
  const std::string kind = "kind = \"synthetic-language\"\n";
  text.replace(text.find(kind), kind.size(), kind + "symbols = 8\n");
  folder.write("w.toml", text);
}

void train(const temporary_folder& folder, const std::string& adapter, const std::string& run) {
  write_workload(folder, adapter);
  const outcome trained = run_hydra(folder, "train w.toml --quiet --output " + run);
  CAPTURE(trained.err);
  REQUIRE(trained.status == 0);
}

/// The line of `adapter` is where the message says that the mistake is.
void check_refused(const temporary_folder& folder, const std::string& adapter, const std::string& why) {
  write_workload(folder, adapter);
  const std::string text = folder.read("w.toml");
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("adapter =")), '\n');
  const outcome o = run_hydra(folder, "train w.toml --output refused");
  INFO(o.err);
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("w.toml:" + std::to_string(line) + ": model.adapter") && Contains(why));
  CHECK_FALSE(fs::exists(folder.path() / "refused"));
}

/// Of the table: four decimals.
std::string loss_of(const outcome& o) { return o.out.substr(o.out.find('.') - 1, 6); }

double exact_loss(const outcome& o) { return nlohmann::json::parse(o.out).at(0).at("loss"); }

TEST_CASE("an adapter is trained, exported, merged and continued") {
  const temporary_folder folder;
  train(folder, "{ rank = 2, alpha = 800 }", "run");
  const outcome exported = run_hydra(folder, "export run gpt lora");
  CHECK(exported.err == "the adapter of gpt after step 3 of 3\n");
  REQUIRE(exported.status == 0);
  CHECK(fs::exists(folder.path() / "lora/adapter_config.json"));
  CHECK_FALSE(fs::exists(folder.path() / "lora/config.json"));
  CHECK(hub_tensors{folder.path() / "lora", "adapter_model"}.all().size() == 8);
  REQUIRE(run_hydra(folder, "export run gpt merged --merge").status == 0);
  const hub_tensors merged{folder.path() / "merged"}, base{folder.path() / "tiny"};
  REQUIRE(merged.all().size() == base.all().size());
  for (const auto& [name, t] : merged.all()) {
    INFO(name);
    const bool adapted = name.find("c_") != std::string::npos && name.ends_with("weight");
    CHECK(std::ranges::equal(t.tensor.data, base.find(name)->tensor.data) != adapted);
  }
  const outcome of_run = run_hydra(folder, "evaluate run");
  std::string whole = folder.read("w.toml");
  whole.replace(whole.find("\"tiny\""), 6, "\"merged\"");
  whole.erase(whole.find("adapter ="), whole.find('\n', whole.find("adapter =")) - whole.find("adapter ="));
  folder.write("e.toml", whole);
  CHECK(of_run.out != "");
  std::string base_only = whole;
  base_only.replace(base_only.find("\"merged\""), 8, "\"tiny\"");
  folder.write("b.toml", base_only);
  CHECK(exact_loss(run_hydra(folder, "evaluate run --json")) !=
        exact_loss(run_hydra(folder, "evaluate b.toml --json")));
  CHECK(loss_of(of_run) == loss_of(run_hydra(folder, "evaluate e.toml")));
  const outcome ids = run_hydra(folder, "generate run --model gpt --prompt-ids '1 2' --tokens 3 --temperature 0");
  CHECK(ids.status == 0);
  CHECK(ids.out == run_hydra(folder, "generate merged --prompt-ids '1 2' --tokens 3 --temperature 0").out);
  CHECK(ids.out == run_hydra(folder, "generate lora --prompt-ids '1 2' --tokens 3 --temperature 0").out);
  train(folder, "{ from = \"lora\" }", "again");
  CHECK(run_hydra(folder, "export again gpt lora2").status == 0);
  const hub_tensors first{folder.path() / "lora", "adapter_model"}, second{folder.path() / "lora2", "adapter_model"};
  CHECK(first.identity() != second.identity());
  CHECK(run_hydra(folder, "export run gpt lora").status == 2);  // exists
}

TEST_CASE("settings of a tokenizer that is not beside the adapter are named: they are not read") {
  const temporary_folder folder;
  train(folder, "{ rank = 2 }", "run");
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  folder.write("lora/tokenizer_config.json", "{}");
  folder.write("lora/chat_template.jinja", "template");
  const std::string note =
      "lora: Hydra does not read chat_template.jinja, tokenizer_config.json: there is no tokenizer";
  CHECK_THAT(run_hydra(folder, "generate lora --prompt-ids 1 --tokens 1").err, Contains(note));
  std::string text = folder.read("w.toml");
  text.replace(text.find("{ rank = 2 }"), 12, "{ from = \"lora\" }");
  folder.write("w.toml", text);
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, Contains(note));
}

TEST_CASE("an adapter whose base is not there does not generate, and says what does") {
  const temporary_folder folder;
  train(folder, "{ rank = 2 }", "run");
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  fs::rename(folder.path() / "tiny", folder.path() / "moved");
  const outcome o = run_hydra(folder, "generate lora --prompt-ids 1");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("lora: base_model_name_or_path of adapter_config.json is") && Contains("--merge"));
}

TEST_CASE("an adapter is exported with the chat template of its base, as the merged model is") {
  const temporary_folder folder;
  train(folder, "{ rank = 2 }", "run");
  folder.write("tiny/chat_template.jinja", "template");
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  CHECK(folder.read("lora/chat_template.jinja") == "template");
  REQUIRE(run_hydra(folder, "export run gpt merged --merge").status == 0);
  CHECK(folder.read("merged/chat_template.jinja") == "template");
}

TEST_CASE("a tied head that is trained with an adapter is a head of its own in what is exported") {
  const temporary_folder folder;
  train(folder, "{ rank = 2, also_train = [\"lm_head\"] }", "run");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, Contains("transformer.wte and lm_head have one weight"));
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  CHECK(hub_tensors{folder.path() / "lora", "adapter_model"}.find("lm_head.weight"));
  REQUIRE(run_hydra(folder, "export run gpt merged --merge").status == 0);
  const hub_tensors merged{folder.path() / "merged"}, base{folder.path() / "tiny"};
  const auto embedding = merged.find("wte.weight")->tensor.data, head = merged.find("lm_head.weight")->tensor.data;
  CHECK(std::ranges::equal(embedding, base.find("wte.weight")->tensor.data));
  CHECK_FALSE(std::ranges::equal(head, embedding));
  CHECK(nlohmann::json::parse(folder.read("merged/config.json")).at("tie_word_embeddings") == false);
  const double trained = exact_loss(run_hydra(folder, "evaluate run --json"));
  write_workload(folder, "{ from = \"lora\" }");
  CHECK(exact_loss(run_hydra(folder, "evaluate w.toml --json")) == trained);
}

TEST_CASE("the plan says which part of an adapted model is trained") {
  const temporary_folder folder;
  write_workload(folder, "{ rank = 2 }");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, Contains("trains "));
  CHECK_THAT(run_hydra(folder, "plan w.toml --json").out,
             Contains("lora rank=2 scale=2 dropout=0 on=2,4,8,10 frozen=0-11"));
}

TEST_CASE("models of other seeds share a checkpoint that has all of their frozen parameters") {
  const temporary_folder folder;
  write_workload(folder, "{ rank = 2 }\ngrid = { seed = [1, 2] }");
  std::string text = folder.read("w.toml");
  text.replace(text.find("name = \"gpt\""), 12, "name = \"gpt{seed}\"");
  folder.write("w.toml", text);
  const outcome o = run_hydra(folder, "plan w.toml");
  CHECK_THAT(o.out, Contains("if models did not share them"));
}

TEST_CASE("a wrong adapter is refused where it stands, and nothing is started") {
  const temporary_folder folder;
  check_refused(folder, "{ rank = 2, targets = [\"c_atn\"] }", "did you mean \"c_attn\"?");
  check_refused(folder, "{ rank = 0 }", "rank");
  check_refused(folder, "{ alpha = 2 }", "rank");
  check_refused(folder, "{ rank = 2, targts = [\"c_attn\"] }", "targets");
  check_refused(folder, "{ rank = 2 }\nfreeze = [\"*\"]", "leave out \"freeze\"");
  check_refused(folder, "{ from = \"nowhere\" }", "nowhere");
  train(folder, "{ rank = 2 }", "run");
  REQUIRE(run_hydra(folder, "export run gpt lora").status == 0);
  auto other = test::tiny_gpt2_tensors();
  std::swap(other.at("transformer.wte.weight").bytes.front(), other.at("transformer.wte.weight").bytes[5]);
  fs::rename(folder.path() / "tiny", folder.path() / "trained-on");
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), other);
  std::string text = folder.read("w.toml");
  text.replace(text.find("{ rank = 2 }"), 12, "{ from = \"lora\" }");
  folder.write("w.toml", text);
  const outcome o = run_hydra(folder, "train w.toml --output refused");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("model.adapter: lora is an adapter of other weights than its base has now: "));
  const outcome writer = run_hydra(folder, "generate lora --prompt-ids 1 --tokens 1");
  CHECK(writer.status == 2);
  CHECK_THAT(writer.err,
             Contains("tiny/model.safetensors, which base_model_name_or_path of adapter_config.json names"));
}

TEST_CASE("an export of a model without an adapter is not merged") {
  const temporary_folder folder;
  write_workload(folder, "{ rank = 2 }");
  std::string text = folder.read("w.toml");
  text.erase(text.find("adapter ="), text.find('\n', text.find("adapter =")) - text.find("adapter ="));
  folder.write("w.toml", text);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output run").status == 0);
  const outcome o = run_hydra(folder, "export run gpt out --merge");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("gpt has no adapter"));
}

}  // namespace hydra::apps::adapters_test
