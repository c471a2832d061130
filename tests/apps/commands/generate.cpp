#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/models/tokenizers/made_sentencepiece.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/special_files.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// The text with `part` (which must be there) replaced.
std::string bent_in(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

/// The example's model, with a longer context.
void train_on_ids(const temporary_folder& folder) {
  folder.write("w.toml", bent("context = 4", "context = 32"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
}

void train_on_text(const temporary_folder& folder) {
  std::string corpus;
  for (int i = 0; i < 200; ++i) corpus += "to be, or not to be: that is the question. ";
  folder.write("corpus.txt", corpus);
  folder.write("w.toml", bent_in(bent("context = 4", "context = 32"), "kind = \"synthetic-language\"",
                                 "kind = \"text\"\ntrain = \"corpus.txt\""));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
}

/// A tokenizer that was trained on the letters a to d, with a begin-of-text token.
void learn_tokenizer(const temporary_folder& folder) {
  folder.write("learn.txt", "abcd abcd abcd abcd");
  REQUIRE(run_hydra(folder, "tokenize learn.txt --train 258 --output t.json --special '<|endoftext|>'").status == 0);
}

/// A GPT-2 for 6 tokens whose vocabulary is larger than any tokenizer's of these tests; the last one is the likeliest.
void write_padded_gpt2(const temporary_folder& folder) {
  nlohmann::json config = test::tiny_gpt2_config();
  config["vocab_size"] = 400;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors["transformer.wte.weight"] = test::ramp({400, 4}, 1);
  test::write_checkpoint(folder.path() / "padded", config, tensors);
}

/// "adapter": one of the checkpoint "small" of 8 tokens, whose embedding was resized to 400 rows and is that of
/// "padded".
void write_padded_adapter(const temporary_folder& folder) {
  test::write_checkpoint(folder.path() / "small", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
  std::filesystem::create_directory(folder.path() / "adapter");
  const nlohmann::json config{{"peft_type", "LORA"},
                              {"r", 2},
                              {"lora_alpha", 2},
                              {"target_modules", {"c_attn"}},
                              {"rank_pattern", {{"nowhere", 3}}},
                              {"unheard_of", 1},
                              {"base_model_name_or_path", (folder.path() / "small").string()}};
  folder.write("adapter/adapter_config.json", config.dump());
  const std::string start = "base_model.model.transformer.", maps = start + "h.0.attn.c_attn.lora_";
  const test::hub_test_tensor nothing{stored_type::f32, {12, 2}, std::string(12 * 2 * 4, '\0')};
  test::write_tensors(folder.path() / "adapter/adapter_model.safetensors",
                      {{start + "wte.weight", test::ramp({400, 4}, 1)},
                       {maps + "A.weight", test::ramp({2, 4}, 1)},
                       {maps + "B.weight", nothing}});
}

std::size_t words_of(const std::string& text) {
  std::istringstream words{text};
  std::size_t count = 0;
  for (std::string word; words >> word;) ++count;
  return count;
}

void check_refused(const temporary_folder& folder, const std::string& arguments, const std::string& why) {
  const outcome o = run_hydra(folder, "generate " + arguments);
  INFO(arguments << " -> " << o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, Contains(why));
}

}  // namespace

TEST_CASE("a run whose data are gone still writes and is exported, from any working directory") {
  const temporary_folder folder, elsewhere;
  train_on_text(folder);
  const std::string run = (folder.path() / "runs/w").string();
  const std::string how = " --prompt 'to be' --tokens 5 --temperature 0";
  const outcome before = run_hydra(folder, "generate runs/w" + how);
  REQUIRE(before.status == 0);
  std::filesystem::remove(folder.path() / "corpus.txt");
  const outcome after = run_hydra(elsewhere, "generate " + run + how);
  INFO(after.err);
  CHECK(after.status == 0);
  CHECK(after.out == before.out);
  CHECK(run_hydra(elsewhere, "export " + run + " gpt hf").status == 0);
  elsewhere.write("other.txt", std::string(40, 'a'));
  const outcome evaluated = run_hydra(elsewhere, "evaluate " + run + " --set data.language.validation=other.txt");
  INFO(evaluated.err);
  CHECK(evaluated.status == 0);
  CHECK_THAT(evaluated.out, Contains("finished"));
  const outcome lacking = run_hydra(elsewhere, "evaluate " + run);
  CHECK(lacking.status == 2);
  CHECK_THAT(lacking.err, Contains("no such file \"" + (folder.path() / "corpus.txt").string() + "\"; --set "
                                   "data.language.validation=FILE evaluates on other data"));
  const outcome wrong = run_hydra(elsewhere, "evaluate " + run + " --set data.language.validation=nofile");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, StartsWith("--set data.language.validation=nofile: data.language.validation: no such file") &&
                            !Contains("evaluates on other data"));
}

TEST_CASE(
    "a tokenizer that a run names relative to its working directory is found from any other, and it needs its cuts no "
    "more") {
  const temporary_folder folder, elsewhere;
  learn_tokenizer(folder);
  std::string corpus;
  for (int i = 0; i < 200; ++i) corpus += "abcd dcba ";
  folder.write("corpus.txt", corpus);
  const std::string text = bent_in(example, "kind = \"synthetic-language\"",
                                   "kind = \"text\"\ntrain = \"corpus.txt\"\ntokenizer = { file = \"t.json\" }");
  folder.write("w.toml", text);
  REQUIRE(run_hydra(folder, "plan w.toml --save cuts.json").status == 0);
  folder.write("w.toml", bent_in(text, "steps = 3", "steps = 3\ncuts = \"cuts.json\""));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  std::filesystem::remove(folder.path() / "cuts.json");
  const std::string how = " --prompt abcd --tokens 1 --temperature 0";
  const outcome there = run_hydra(folder, "generate runs/w" + how);
  INFO(there.err);
  REQUIRE(there.status == 0);
  CHECK(run_hydra(elsewhere, "generate " + (folder.path() / "runs/w").string() + how).out == there.out);
}

TEST_CASE("a model of a run continues token ids, and its export with the same ones, wherever they fit") {
  const temporary_folder folder;
  train_on_ids(folder);
  const std::string how = " --prompt-ids '1 2 3' --tokens 20 --seed 5";
  const outcome run = run_hydra(folder, "generate runs/w" + how);
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, StartsWith("1 2 3 "));
  CHECK(words_of(run.out) == 23);
  REQUIRE(run_hydra(folder, "export runs/w gpt hf").status == 0);
  CHECK(run_hydra(folder, "generate hf" + how).out == run.out);
  const outcome streamed = run_hydra(folder, "generate hf --memory 24KiB" + how);
  CHECK(streamed.out == run.out);
  CHECK_THAT(streamed.err, Contains("of 4 layers stay on the device"));
}

TEST_CASE("samples differ from each other and not from run to run; without temperature they are equal") {
  const temporary_folder folder;
  train_on_ids(folder);
  const auto lines = [&](const std::string& options) {
    std::istringstream out{run_hydra(folder, "generate runs/w --prompt-ids 1 --samples 3 " + options).out};
    std::vector<std::string> all;
    for (std::string line; std::getline(out, line);) all.push_back(line);
    return all;
  };
  const auto some = lines("");
  REQUIRE(some.size() == 3);
  CHECK(words_of(some[0]) == 32);
  CHECK(some[0] != some[1]);
  CHECK(lines("") == some);
  CHECK(lines("--seed 1") != some);
  const auto likeliest = lines("--temperature 0");
  CHECK(likeliest == std::vector<std::string>(3, likeliest[0]));
}

TEST_CASE("a model that was trained on text continues a text, given on the command line or in a file") {
  const temporary_folder folder;
  train_on_text(folder);
  folder.write("prompt.txt", "to be");
  const outcome o = run_hydra(folder, "generate runs/w --prompt 'to be' --tokens 9");
  INFO(o.err);
  CHECK(o.status == 0);
  CHECK_THAT(o.out, StartsWith("to be"));
  CHECK(o.out.size() == 5 + 9 + 1);
  CHECK(run_hydra(folder, "generate runs/w --prompt-file prompt.txt --tokens 9").out == o.out);
}

TEST_CASE("prompts that the model cannot take are refused with what it can") {
  const temporary_folder folder;
  train_on_ids(folder);
  std::string many;
  for (int i = 0; i < 32; ++i) many += " 1";
  check_refused(folder, "runs/w --prompt-ids '" + many + "'", "context of 32 has no place");
  check_refused(folder, "runs/w --prompt-ids '1 2' --tokens 31", "at most 30 do");
  check_refused(folder, "runs/w --prompt-ids '1 5000'", "token id 5000");
  check_refused(folder, "runs/w --prompt-ids 'a b'", "\"a\" is not a token id");
  check_refused(folder, "runs/w --prompt-ids ''", "no token");
  check_refused(folder, "runs/w --prompt hello", "give --tokenizer, or --prompt-ids");
  check_refused(folder, "runs/w --prompt hello --tokenizer ''", "--tokenizer is empty");
  check_refused(folder, "runs/w --prompt-file runs", "--prompt-file runs: a folder; a file is expected");
  check_refused(folder, "runs/w --prompt-file none", "--prompt-file none: no such file");
  test::make_pipe(folder.path() / "pipe");
  check_refused(folder, "runs/w --prompt-file pipe", "pipe: a pipe; a file is expected; --prompt \"$(COMMAND)\" takes");
  check_refused(folder, "runs/w", "give one prompt");
  check_refused(folder, "runs/w --prompt-ids 1 --prompt a", "give one prompt");
  check_refused(folder, "runs/w --prompt-ids 1 --model gtp", "did you mean \"gpt\"");
  check_refused(folder, "runs/w --prompt-ids 1 --top-p 2", "top-p is 2");
}

TEST_CASE("sources that are neither a checkpoint nor a run, and families that write no text, are refused") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "empty");
  check_refused(folder, "nowhere --prompt-ids 1", "\"nowhere\" does not exist; the folder of a checkpoint or a run");
  check_refused(folder, "owner/model --prompt-ids 1", "is expected; a model of the Hugging Face Hub is downloaded");
  folder.write("w.txt", "text");
  check_refused(folder, "w.txt --prompt-ids 1", "\"w.txt\" is a file; the folder of a checkpoint or a run is expected");
  check_refused(folder, std::string(300, 'a') + " --prompt-ids 1", "aaa…: File name too long");
  check_refused(folder, "empty --prompt-ids 1", "neither workload.toml of a run nor config.json");
  std::filesystem::create_directory(folder.path() / "two");
  folder.write("two/workload.toml", example + "[model.grid]\nbatch_size = [4, 8]\n");
  check_refused(folder, "two --prompt-ids 1", "two has 2 models: gpt-4, gpt-8; choose one with --model");
  folder.write("w.toml", bent_in(bent("synthetic-language", "synthetic-classes"),
                                 "family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4",
                                 "family = \"mlp\", width = 4"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  check_refused(folder, "runs/w --prompt-ids 1", "models of the family mlp write no text");
}

TEST_CASE("a memory that is too small for a layer ends with status 3 and says how much is needed") {
  const temporary_folder folder;
  train_on_ids(folder);
  const outcome o = run_hydra(folder, "generate runs/w --prompt-ids 1 --memory 1KiB");
  CHECK(o.status == 3);
  CHECK_THAT(o.err, Contains("one layer at a time") && Contains("1.0 KiB"));
}

TEST_CASE("a model whose data name a tokenizer's file continues text in its tokens") {
  const temporary_folder folder;
  learn_tokenizer(folder);
  std::string corpus;
  for (int i = 0; i < 200; ++i) corpus += "abcd dcba ";
  folder.write("corpus.txt", corpus);
  folder.write("w.toml",
               bent_in(bent("context = 4", "context = 32"), "kind = \"synthetic-language\"",
                       "kind = \"text\"\ntrain = \"corpus.txt\"\ntokenizer = { file = \"t.json\" }"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  const outcome o = run_hydra(folder, "generate runs/w --prompt 'abcd ' --tokens 4");
  CHECK(o.err == "");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, StartsWith("abcd "));
  CHECK(run_hydra(folder, "generate runs/w --tokenizer t.json --prompt 'abcd ' --tokens 4").out == o.out);
}

TEST_CASE(
    "a run from a checkpoint reads prompts by the checkpoint's tokenizer; one that was trained on bytes is not taken "
    "for it") {
  const temporary_folder folder;
  learn_tokenizer(folder);
  write_padded_gpt2(folder);
  folder.write("padded/tokenizer.json", folder.read("t.json"));
  folder.write("corpus.txt", std::string(400, 'a'));
  const std::string from =
      bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ from = \"padded\" }");
  const std::string kind = "kind = \"synthetic-language\"", data = "kind = \"text\"\ntrain = \"corpus.txt\"";
  folder.write("w.toml", bent_in(from, kind, data));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  CHECK(run_hydra(folder, "generate runs/w --prompt abcd --tokens 1").status == 0);
  REQUIRE(run_hydra(folder, "export runs/w gpt out").status == 0);
  CHECK(folder.read("out/tokenizer.json") == folder.read("t.json"));

  const std::string bytes = "\ntokenizer = \"bytes\"";
  folder.write("old.toml", bent_in(from, kind, data + bytes));
  REQUIRE(run_hydra(folder, "train old.toml --quiet").status == 0);
  REQUIRE(run_hydra(folder, "export runs/old gpt plain").status == 0);
  CHECK(folder.read("plain/tokenizer.json").empty());
  folder.write("runs/old/workload.toml",
               bent_in(folder.read("runs/old/workload.toml"), bytes, ""));  // as older runs are
  check_refused(folder, "runs/old --prompt abcd --tokens 1", "was trained on bytes");
  CHECK_THAT(run_hydra(folder, "export runs/old gpt again").err, Contains("was trained on bytes"));
  folder.write("old.toml", bent_in(folder.read("old.toml"), bytes, ""));
  const outcome resumed = run_hydra(folder, "train old.toml --resume");
  CHECK(resumed.status == 2);
  CHECK_THAT(resumed.err, Contains("data: text corpus.txt (saved)") && Contains("padded/tokenizer.json (now)"));
}

TEST_CASE("a checkpoint's tokenizer.model reads the data, the prompts and the texts of its model, and is exported") {
  const temporary_folder folder;
  write_padded_gpt2(folder);
  using kind = test::made_piece::kind;
  const std::string model = test::sentencepiece_file(
      test::made_model::bpe, {{"<unk>", 0, kind::unknown}, {"<s>", 0, kind::control}, {"\u2581", -1}, {"a", -2}});
  folder.write("padded/tokenizer.model", model);
  folder.write("padded/tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": true})");
  folder.write("a.txt", "aa");
  CHECK(run_hydra(folder, "tokenize a.txt --tokenizer padded --json").out == "[2, 3, 3]\n");
  CHECK_THAT(run_hydra(folder, "generate padded --prompt aaaa --tokens 1").err, Contains("the prompt has 6 tokens"));
  CHECK(run_hydra(folder, "generate padded --tokenizer padded/tokenizer.model --prompt aa --tokens 1").status == 0);

  folder.write("corpus.txt", std::string(400, 'a'));
  const std::string from =
      bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ from = \"padded\" }");
  folder.write("w.toml", bent_in(from, "kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"corpus.txt\""));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  CHECK_THAT(run_hydra(folder, "generate runs/w --prompt aa --tokens 1").out, StartsWith("aa"));
  REQUIRE(run_hydra(folder, "export runs/w gpt out").status == 0);
  CHECK(folder.read("out/tokenizer.model") == model);
}

TEST_CASE("a text is written of the tokenizer's tokens, even if the model's vocabulary has more") {
  const temporary_folder folder;
  write_padded_gpt2(folder);
  const outcome ids = run_hydra(folder, "generate padded --prompt-ids 97 --tokens 1 --temperature 0");
  CHECK(ids.out == "97 399\n");
  const outcome text = run_hydra(folder, "generate padded --tokenizer bytes --prompt a --tokens 1 --temperature 0");
  CHECK(text.err == "");
  CHECK(text.out == "a\xff\n");
}

TEST_CASE(
    "an adapter with padded rows writes, with a tokenizer of fewer tokens and without one, and its notes are told") {
  const temporary_folder folder;
  write_padded_gpt2(folder);
  write_padded_adapter(folder);
  for (const std::string how : {"--prompt-ids '97 398'", "--tokenizer bytes --prompt a"}) {
    const std::string arguments = " --tokens 2 --temperature 0 " + how;
    const outcome o = run_hydra(folder, "generate adapter" + arguments);
    INFO(how << " -> " << o.err);
    CHECK(o.status == 0);
    CHECK(o.out != "");
    CHECK(o.out == run_hydra(folder, "generate padded" + arguments).out);
    CHECK_THAT(o.err,
               Contains("note: ") && Contains("unheard_of = 1") && Contains("\"nowhere\" matches no adapted module"));
  }
}

TEST_CASE("generate and tokenize note the keys of a model's files that they do not know") {
  const temporary_folder folder;
  learn_tokenizer(folder);
  nlohmann::json config = test::tiny_gpt2_config(), words = nlohmann::json::parse(folder.read("t.json"));
  config["unheard_of"] = 1;
  words["unknown_to_all"] = true;
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  folder.write("m/tokenizer.json", words.dump());
  const outcome text = run_hydra(folder, "generate m --prompt-ids 1 --tokens 1");
  CHECK(text.status == 0);
  CHECK_THAT(text.err, Contains("note: ") && Contains("unheard_of = 1") && Contains("unknown_to_all = true"));
  CHECK_THAT(run_hydra(folder, "tokenize learn.txt --tokenizer m").err,
             Contains("note: ") && Contains("unknown_to_all = true"));
}

TEST_CASE("generate notes what generation_config.json says that it does not do, and how to choose tokens, once") {
  const temporary_folder folder;
  test::write_checkpoint(folder.path() / "m", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
  folder.write("m/generation_config.json",
               R"({"repetition_penalty": 1.05, "suppress_tokens": [5], "forced_bos_token_id": 0, "unheard_of": "x",
                   "do_sample": false, "temperature": 0.6, "top_p": 1, "num_beams": 1, "bad_words_ids": [],
                   "use_cache": true})");
  const outcome o = run_hydra(folder, "generate m --prompt-ids 1 --tokens 1");
  CHECK(o.status == 0);
  const std::string unused = "note: m/generation_config.json: Hydra does not use ";
  CHECK(o.err == unused +
                     "do_sample = false, temperature = 0.6: --temperature, --top-k and --top-p say how tokens are " +
                     "chosen\n" + unused + "forced_bos_token_id = 0\n" + unused + "repetition_penalty = 1.05\n" +
                     unused + "suppress_tokens = [5]\n" + unused + "unheard_of = \"x\"\n");
  CHECK_THAT(run_hydra(folder, "generate m --prompt-ids 1 --tokens 1 --temperature 1").err,
             !Contains("do_sample") && !Contains("temperature") && Contains("repetition_penalty"));
  folder.write("m/generation_config.json", R"({"temperature": 0.6, "top_k": 20, "top_p": 0.9})");
  CHECK(run_hydra(folder, "generate m --prompt-ids 1 --tokens 1 --temperature 0").err.empty());
  CHECK_THAT(run_hydra(folder, "generate m --prompt-ids 1 --tokens 1 --temperature 1").err,
             Contains("top_k = 20, top_p"));
  folder.write("m/generation_config.json", R"({"eos_token_id": "<|endoftext|>"})");
  const outcome wrong = run_hydra(folder, "generate m --prompt-ids 1 --tokens 1");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("m/generation_config.json: eos_token_id: \"<|endoftext|>\" is not an integer"));
}

TEST_CASE("generate notes what an old config.json says of generation, unless generation_config.json is there") {
  const temporary_folder folder;
  nlohmann::json config = test::tiny_gpt2_config();
  config.update({{"do_sample", false}, {"top_k", 50}, {"temperature", 1.0}, {"max_length", 9}, {"num_beams", 1}});
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  const std::string how = "generate m --prompt-ids 1 --tokens 1";
  CHECK(run_hydra(folder, how).err.empty());
  config.update({{"temperature", 0.7}, {"no_repeat_ngram_size", 3}});
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  const std::string unused = "note: m/config.json: Hydra does not use ";
  CHECK(run_hydra(folder, how).err ==
        unused + "temperature = 0.7: --temperature, --top-k and --top-p say how tokens are chosen\n" + unused +
            "no_repeat_ngram_size = 3\n");
  folder.write("m/generation_config.json", "{}");
  CHECK(run_hydra(folder, how).err.empty());
}

TEST_CASE("where generation_config.json is, config.json does not say what ends a text") {
  const temporary_folder folder;
  nlohmann::json config = test::tiny_gpt2_config();
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  const std::string how = "generate m --prompt-ids 1 --tokens 3 --temperature 0";
  const std::string whole = run_hydra(folder, how).out;
  config["eos_token_id"] = std::stoi(whole.substr(2));  // which follows the prompt
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  CHECK(run_hydra(folder, how).out == "1\n");
  folder.write("m/generation_config.json", "{}");
  CHECK(run_hydra(folder, how).out == whole);
}

TEST_CASE("dropout that is not trained with is not an obstacle to writing a text") {
  const temporary_folder folder;
  nlohmann::json config = test::tiny_gpt2_config();
  config.update({{"embd_pdrop", 0.1}, {"resid_pdrop", 0.2}});
  test::write_checkpoint(folder.path() / "m", config, test::tiny_gpt2_tensors());
  const outcome o = run_hydra(folder, "generate m --prompt-ids 1 --tokens 1");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
}

TEST_CASE("a prompt follows a begin-of-text token if the checkpoint's tokenizer adds one, and only then") {
  const temporary_folder folder;
  learn_tokenizer(folder);
  write_padded_gpt2(folder);
  const auto full = [&] {  // six tokens of the prompt fill a context of six
    const outcome o = run_hydra(folder, "generate padded --prompt zyxwv --tokens 1");
    INFO(o.err);
    CHECK((o.status == 0 || o.err.find("the prompt has 6 tokens") != std::string::npos));
    return o.status != 0;
  };
  nlohmann::json file = nlohmann::json::parse(folder.read("t.json"));
  file["post_processor"] = nullptr;
  folder.write("padded/tokenizer.json", file.dump());
  CHECK_FALSE(full());
  const auto end = file["added_tokens"][0]["id"].get<std::uint32_t>();
  file["post_processor"] = test::frame_of({{"<|endoftext|>", end}}, {});
  folder.write("padded/tokenizer.json", file.dump());
  CHECK(full());
  const outcome shorter = run_hydra(folder, "generate padded --prompt zyxw --tokens 1");
  CHECK(shorter.status == 0);
  CHECK_THAT(shorter.out, StartsWith("zyxw"));
  CHECK(run_hydra(folder, "generate padded --prompt '<|endoftext|>zyxw' --tokens 1").status == 0);
}

TEST_CASE("prompts begin as the texts of a training on records, and as the windows of a continuous text") {
  const temporary_folder folder;
  learn_tokenizer(folder);
  nlohmann::json file = nlohmann::json::parse(folder.read("t.json"));
  file["post_processor"] = test::frame_of({{"<|endoftext|>", file["added_tokens"][0]["id"].get<std::uint32_t>()}}, {});
  folder.write("t.json", file.dump());
  std::string corpus, records;
  for (int i = 0; i < 100; ++i) corpus += "zyxwvutsrq", records += "{\"text\": \"zyxwvu\"}\n";
  folder.write("corpus.txt", corpus);
  folder.write("records.jsonl", records);
  const auto full = [&](const std::string& kind, const std::string& data) {  // a context of four
    const std::string name = kind + ".toml", tokenizer = "\ntokenizer = { file = \"t.json\" }";
    folder.write(name, bent("kind = \"synthetic-language\"",
                            "kind = \"" + kind + "\"\ntrain = \"" + data + "\"" + tokenizer));
    const outcome trained = run_hydra(folder, "train " + name + " --quiet");
    INFO(trained.err);
    REQUIRE(trained.status == 0);
    const outcome o = run_hydra(folder, "generate runs/" + kind + " --prompt zyx --tokens 1");
    CHECK((o.status == 0 || o.err.find("the prompt has 4 tokens") != std::string::npos));
    return o.status != 0;
  };
  CHECK(full("jsonl", "records.jsonl"));
  CHECK_FALSE(full("text", "corpus.txt"));
}

}  // namespace hydra::apps
