// Tokens that a checkpoint lacks: in its tokenizer, its embedding and its head, in what is trained and in what is
// exported.

#include "models/weights/hub_tensors.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace hydra::apps {

using Catch::Contains;
using nlohmann::json;

namespace {

using tensor_shape = std::vector<std::int64_t>;

/// A checkpoint "base" for 257 tokens: the bytes and "<|endoftext|>".
void write_small_base(const temporary_folder& folder, std::int64_t rows = 257) {
  folder.write("learn.txt", "abcd abcd");
  REQUIRE(run_hydra(folder, "tokenize learn.txt --train 257 --output t.json --special '<|endoftext|>'").status == 0);
  json config = test::tiny_gpt2_config();
  config["vocab_size"] = rows;
  config["n_positions"] = 64;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors["transformer.wte.weight"] = test::ramp({rows, 4}, -0.1f);
  tensors["transformer.wpe.weight"] = test::ramp({64, 4}, 0);
  test::write_checkpoint(folder.path() / "base", config, tensors);
  folder.write("base/tokenizer.json", folder.read("t.json"));
  folder.write("talks.jsonl",
               R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})"
               "\n");
}

void write_workload(const temporary_folder& folder, const std::string& data, const std::string& model) {
  folder.write("w.toml", "[[device]]\nkind = \"cpu\"\nmemory = \"8MiB\"\n[data.d]\n" + data +
                             "\n[[model]]\nname = \"m\"\ndata = \"d\"\nbatch_size = 1\nsteps = 2\n"
                             "optimizer = { learning_rate = 1e-2 }\n" +
                             model);
}

void write_talks(const temporary_folder& folder, const std::string& chain, const std::string& more = "") {
  write_workload(folder,
                 "kind = \"chat\"\ntemplate = \"chatml\"\ntrain = \"talks.jsonl\"\nvalidation = \"talks.jsonl\"",
                 "chain = { " + chain + " }\n" + more);
}

/// For a tokenizer without the tokens of a template.
void write_text(const temporary_folder& folder, const std::string& chain, const std::string& more = "",
                const std::string& end = "") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "abcd ";
  folder.write("text.txt", text + end);
  write_workload(folder, "kind = \"text\"\ntrain = \"text.txt\"\nvalidation = \"text.txt\"",
                 "chain = { " + chain + " }\n" + more);
}

const std::string grown_base = R"(from = "base", tokens = ["<|im_start|>", "<|im_end|>"])";

void train_and_export(const temporary_folder& folder, const std::string& run, const std::string& target) {
  const outcome trained = run_hydra(folder, "train w.toml --quiet --output " + run);
  INFO(trained.err);
  REQUIRE(trained.status == 0);
  REQUIRE(run_hydra(folder, "export " + run + " m " + target).status == 0);
}

double evaluated_loss(const temporary_folder& folder, const std::string& what) {
  const outcome o = run_hydra(folder, "evaluate " + what + " --json");
  INFO(o.err);
  REQUIRE(o.status == 0);
  return json::parse(o.out).at(0).at("loss");
}

tensor_shape stored_shape(const temporary_folder& folder, const std::string& file, const std::string& tensor) {
  const hub_tensors all{folder.path() / file, file.starts_with("lora") ? "adapter_model" : "model"};
  REQUIRE(all.find(tensor));
  return all.find(tensor)->tensor.shape;
}

json exported_tokens(const temporary_folder& folder, const std::string& export_folder) {
  return json::parse(folder.read(export_folder + "/tokenizer.json")).at("added_tokens");
}

}  // namespace

TEST_CASE("a checkpoint gets new tokens, and its export is a model for all of them") {
  const temporary_folder folder;
  write_small_base(folder);
  write_talks(folder, grown_base);
  train_and_export(folder, "run", "out");
  CHECK(json::parse(folder.read("out/config.json")).at("vocab_size") == 259);
  CHECK(stored_shape(folder, "out", "wte.weight") == tensor_shape{259, 4});
  const json added = exported_tokens(folder, "out");
  REQUIRE(added.size() == 3);
  CHECK(added[1].at("content") == "<|im_start|>");
  CHECK(added[1].at("id") == 257);
  CHECK(added[2].at("id") == 258);
  CHECK(added[2].at("special") == true);
  const double trained = evaluated_loss(folder, "run");
  write_talks(folder, "from = \"out\"");
  CHECK(evaluated_loss(folder, "w.toml") == trained);
}

TEST_CASE("rows that are there for new tokens are kept, and none are added") {
  const temporary_folder folder;
  write_small_base(folder, 300);
  write_talks(folder, grown_base);
  train_and_export(folder, "run", "out");
  CHECK(stored_shape(folder, "out", "wte.weight") == tensor_shape{300, 4});
  CHECK(exported_tokens(folder, "out").size() == 3);
  CHECK_THAT(run_hydra(folder, "plan w.toml").out,
             Contains("no rows are added for \"tokens\": there are 300 for the 259 token ids of the data"));
  write_talks(folder, grown_base, "adapter = { rank = 2 }\n");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, !Contains("rows of new tokens"));
}

TEST_CASE("an adapter of a grown model has the rows of the embedding and the head, and continues") {
  const temporary_folder folder;
  write_small_base(folder);
  write_talks(folder, grown_base, "adapter = { rank = 2, also_train = [\"wte\", \"lm_head\"] }\n");
  train_and_export(folder, "run", "lora");
  CHECK(stored_shape(folder, "lora", "wte.weight") == tensor_shape{259, 4});
  CHECK(stored_shape(folder, "lora", "lm_head.weight") == tensor_shape{259, 4});
  CHECK(exported_tokens(folder, "lora").size() == 3);
  const outcome written = run_hydra(folder, "generate lora --prompt '<|im_start|>a' --tokens 9 --temperature 0");
  CHECK(written.status == 0);
  CHECK(written.out == run_hydra(folder, "generate run --prompt '<|im_start|>a' --tokens 9 --temperature 0").out);
  const double trained = evaluated_loss(folder, "run");
  write_talks(folder, grown_base, "adapter = { from = \"lora\" }\n");
  CHECK(evaluated_loss(folder, "w.toml") == trained);
  write_text(folder, "from = \"base\"", "adapter = { from = \"lora\" }\n", "<|im_end|>");
  CHECK_THAT(run_hydra(folder, "evaluate w.toml").err, Contains("vocabulary is 257") &&
                                                           Contains("token ids up to 258 (\"<|im_end|>\")") &&
                                                           Contains("tokens = ["));
  const outcome o = run_hydra(folder, "evaluate w.toml --set data.d.tokenizer=bytes");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("is [259, 4]; the model has [257, 4]") && Contains("tokens = ["));
}

TEST_CASE("an adapter that does not train the rows of new tokens says so, and has them all the same") {
  const temporary_folder folder;
  write_small_base(folder);
  write_talks(folder, grown_base, "adapter = { rank = 2 }\n");
  CHECK_THAT(
      run_hydra(folder, "plan w.toml").out,
      Contains("the rows of new tokens in transformer.wte.weight are not trained: also_train = [\"wte\", \"lm_head\"] "
               "trains them"));
  train_and_export(folder, "run", "lora");
  CHECK(stored_shape(folder, "lora", "wte.weight") == tensor_shape{259, 4});
  write_talks(folder, grown_base, "adapter = { rank = 2, also_train = [\"wte\"] }\n");
  CHECK_THAT(
      run_hydra(folder, "plan w.toml").out,
      Contains("the rows of new tokens in lm_head.weight are not trained: also_train = [\"wte\", \"lm_head\"] trains"));
  write_talks(folder, grown_base, "adapter = { rank = 2, also_train = [\"wte\", \"lm_head\"] }\n");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, !Contains("rows of new tokens"));
  write_talks(folder, grown_base, "adapter = { from = \"lora\" }\n");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out,
             Contains("in transformer.wte.weight are not trained: modules_to_save of the adapter does not name"));
}

TEST_CASE("a text with a token beyond the embedding is refused with what to do, which helps") {
  const temporary_folder folder;
  write_small_base(folder, 256);
  write_text(folder, "from = \"base\"", "", "\u00ed");  // the second byte of it is the last one of the tokenizer
  const outcome o = run_hydra(folder, "evaluate w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("vocabulary is 256") && Contains("token ids up to 256 (\"\\xad\")") &&
                        Contains("tokens = [") && Contains("the data name: tokenizer = { file = \"BASE\" }"));
  write_text(folder, "from = \"base\", tokens = [\"<|endoftext|>\"]", "", "\u00ed");
  CHECK(run_hydra(folder, "evaluate w.toml").status == 0);
}

TEST_CASE("a token beyond the embedding that no text has is noted, and an export's tokenizer keeps it") {
  const temporary_folder folder;
  write_small_base(folder, 256);
  write_text(folder, "from = \"base\"");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out,
             Contains("tokens beyond the vocabulary of 256, which the texts do not have: \\xad"));
  train_and_export(folder, "run", "out");
  CHECK(stored_shape(folder, "out", "wte.weight") == tensor_shape{256, 4});
  CHECK(folder.read("out/tokenizer.json") == folder.read("base/tokenizer.json"));
}

TEST_CASE("a chat template whose tokens are missing is refused with the keys that add them, which help") {
  const temporary_folder folder;
  write_small_base(folder);
  write_talks(folder, "from = \"base\"");
  const outcome o = run_hydra(folder, "evaluate w.toml");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("tokens = [\"<|im_start|>\", \"<|im_end|>\"]"));
  write_talks(folder, grown_base);
  CHECK(run_hydra(folder, "evaluate w.toml").status == 0);
}

}  // namespace hydra::apps
