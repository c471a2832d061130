// Models that were trained on conversations: where they end a text, and what others are told of it.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/models/tokenizers/made_sentencepiece.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

namespace hydra::apps::chat_test {

using Catch::Contains;
using nlohmann::json;

namespace fs = std::filesystem;

/// A checkpoint "base" whose likeliest token is always that with the id 0, "<|im_end|>" of its tokenizer.
void write_base(const temporary_folder& folder) {
  folder.write("learn.txt", "abcd abcd");
  REQUIRE(run_hydra(folder,
                    "tokenize learn.txt --train 262 --output t.json --special '<|im_end|>' --special "
                    "'<|im_start|>' --special '<|endoftext|>'")
              .status == 0);
  json config = test::tiny_gpt2_config();
  config["vocab_size"] = 400;
  test::hub_test_tensors tensors = test::tiny_gpt2_tensors();
  tensors["transformer.wte.weight"] = test::ramp({400, 4}, -2);
  std::string& bytes = tensors["transformer.wte.weight"].bytes;
  std::string reversed;
  for (std::size_t at = bytes.size(); at > 0; at -= sizeof(float))
    reversed += bytes.substr(at - sizeof(float), sizeof(float));
  bytes = reversed;
  test::write_checkpoint(folder.path() / "base", config, tensors);
  folder.write("base/tokenizer.json", folder.read("t.json"));
}

/// Trains "base" on data of this kind into "run", so little that the same token stays the likeliest.
void train(const temporary_folder& folder, const std::string& data, const std::string& more = "") {
  const bool talks = data.find("\"chat\"") != data.npos;
  folder.write("talks.jsonl",
               talks ? R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})"
                     : R"({"t": "abcd"})");
  folder.write("w.toml", "[[device]]\nkind = \"cpu\"\nmemory = \"8MiB\"\n[data.talks]\n" + data +
                             "train = \"talks.jsonl\"\nvalidation = \"talks.jsonl\"\n[[model]]\nname = \"m\"\n"
                             "chain = { from = \"base\" }\ndata = \"talks\"\nbatch_size = 1\nsteps = 1\n"
                             "optimizer = { learning_rate = 1e-9 }\n" +
                             more);
  const outcome trained = run_hydra(folder, "train w.toml --quiet --output run");
  CAPTURE(trained.err);
  REQUIRE(trained.status == 0);
}

const std::string chat = "kind = \"chat\"\ntemplate = \"chatml\"\n";
const std::string how = " --prompt a --tokens 3 --temperature 0";

json object_in(const temporary_folder& folder, const std::string& file) { return json::parse(folder.read(file)); }

TEST_CASE("a model of conversations ends a text with the token that ends a turn, and so does its export") {
  const temporary_folder folder;
  write_base(folder);
  CHECK(run_hydra(folder, "generate base" + how).out == "a<|im_end|><|im_end|><|im_end|>\n");
  train(folder, chat);
  CHECK(run_hydra(folder, "generate run" + how).out == "a\n");
  REQUIRE(run_hydra(folder, "export run m out").status == 0);
  for (const char* const file : {"out/config.json", "out/generation_config.json"})
    CHECK(object_in(folder, file)["eos_token_id"] == json::array({0, 2}));
  CHECK_THAT(folder.read("out/chat_template.jinja"), Contains("<|im_start|>"));
  CHECK(object_in(folder, "out/tokenizer_config.json") == json({{"tokenizer_class", "PreTrainedTokenizerFast"},
                                                                {"bos_token", "<|endoftext|>"},
                                                                {"eos_token", "<|endoftext|>"}}));
  CHECK(run_hydra(folder, "generate out" + how).out == "a\n");
}

TEST_CASE("what the checkpoint says about its texts is kept, and the end of a turn comes first") {
  const temporary_folder folder;
  write_base(folder);
  folder.write("base/generation_config.json", R"({"top_k": 5, "eos_token_id": [7, 2]})");
  folder.write("base/tokenizer_config.json", R"({"eos_token": "<|endoftext|>"})");
  folder.write("base/chat_template.jinja", "the base's own");
  train(folder, chat);
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, Contains("base/chat_template.jinja: its chat template is not used"));
  REQUIRE(run_hydra(folder, "export run m out").status == 0);
  CHECK(object_in(folder, "out/generation_config.json") == json({{"top_k", 5}, {"eos_token_id", {0, 7, 2}}}));
  CHECK(folder.read("out/tokenizer_config.json") == folder.read("base/tokenizer_config.json"));
  CHECK_THAT(folder.read("out/chat_template.jinja"), !Contains("own"));
  folder.write("base/generation_config.json", R"({"eos_token_id": 0})");
  CHECK(run_hydra(folder, "generate base" + how).out == "a\n");
}

TEST_CASE("a run ends a text where the checkpoint does that it started from") {
  const temporary_folder folder;
  write_base(folder);
  folder.write("base/generation_config.json", R"({"eos_token_id": 0})");
  train(folder, "kind = \"jsonl\"\ntext = \"t\"\n");
  CHECK(run_hydra(folder, "generate run" + how).out == "a\n");
  REQUIRE(run_hydra(folder, "export run m out").status == 0);
  for (const char* const file : {"out/config.json", "out/generation_config.json"})  // 2 ended the records
    CHECK(object_in(folder, file)["eos_token_id"] == json::array({0, 2}));
  folder.write("base/generation_config.json", R"({"eos_token_id": ["<|endoftext|>", 0]})");
  CHECK(run_hydra(folder, "export run m other").status == 0);
  CHECK(run_hydra(folder, "generate run" + how).status == 2);
}

constexpr const char* short_template =
    "{% for m in messages %}{{ m.content + '<|im_end|>' }}{% endfor %}{{ 'A' if add_generation_prompt }}";

TEST_CASE("conversations are written by the checkpoint's chat template where it has one and the data name none") {
  const temporary_folder folder;
  write_base(folder);
  folder.write("base/chat_template.jinja", short_template);
  train(folder, "kind = \"chat\"\n");
  CHECK_THAT(run_hydra(folder, "plan w.toml").out, !Contains("chat template"));
  const json sample = json::parse(run_hydra(folder, "data w.toml --json").out)[0]["samples"][0];
  CHECK(sample["tokens"].size() == 4);
  CHECK(run_hydra(folder, "tokenize talks.jsonl --tokenizer base --template checkpoint --json").out ==
        "{\"ids\": [67, 0, 68, 0], \"loss\": [0, 0, 1, 1]}\n");
  CHECK(run_hydra(folder, "generate run" + how).out == "a\n");
  REQUIRE(run_hydra(folder, "export run m out").status == 0);
  CHECK(folder.read("out/chat_template.jinja") == short_template);
  CHECK(object_in(folder, "out/generation_config.json")["eos_token_id"] == json::array({0, 2}));
}

TEST_CASE("data of conversations without a template want one of the checkpoint") {
  const temporary_folder folder;
  write_base(folder);
  train(folder, chat);
  folder.write("w.toml", std::regex_replace(folder.read("w.toml"), std::regex{"template = .*\n"}, ""));
  CHECK_THAT(run_hydra(folder, "plan w.toml").err, Contains("`template` is not given, and ") &&
                                                       Contains("base has none") &&
                                                       Contains("choose template = \"chatml\""));
}

TEST_CASE("generate answers a message of the user, as the model's chat template writes conversations") {
  const temporary_folder folder;
  write_base(folder);
  const std::string chat_with = "generate base --tokens 2 --temperature 0 --chat a";
  CHECK_THAT(run_hydra(folder, chat_with).err, Contains("--chat: how the model writes conversations is not known"));
  folder.write("base/chat_template.jinja", short_template);
  CHECK(run_hydra(folder, chat_with).out == "\n");  // the token that ends a turn is the likeliest
  folder.write("base/chat_template.jinja", "{{ messages[-1].content }}");
  CHECK(run_hydra(folder, chat_with).out == "<|im_end|><|im_end|>\n");
  CHECK(run_hydra(folder, chat_with + " --samples 2 --system s").out == "<|im_end|><|im_end|>\n<|im_end|><|im_end|>\n");
  folder.write("base/chat_template.jinja", "{{ raise_exception(messages[0].content) }}");
  CHECK_THAT(run_hydra(folder, chat_with + " --system s").err,
             Contains("base/chat_template.jinja: line 1: the template refuses the conversation: s"));
  CHECK_THAT(run_hydra(folder, chat_with + " --prompt b").err, Contains("give one prompt"));
}

TEST_CASE("without a text generate answers each line of the input, and knows what was said before") {
  const temporary_folder folder;
  write_base(folder);
  folder.write("base/chat_template.jinja",
               "{{ raise_exception(messages[1].content) if messages | length == 5 }}{{ messages[-1].content }}");
  folder.write("lines", "a\n\nb\nc\n");
  const outcome o = run_hydra_with_streams(folder, "generate base --tokens 1 --temperature 0 --chat", "<lines");
  CHECK(o.out == "<|im_end|>\n<|im_end|>\n");
  CHECK_THAT(o.err, Contains("the template refuses the conversation: <|im_end|>"));
}

TEST_CASE("an adapter of conversations is exported with its tokenizer and its texts' ends, merged like a whole model") {
  const temporary_folder folder;
  write_base(folder);
  train(folder, chat, "adapter = { rank = 2 }\n");
  REQUIRE(run_hydra(folder, "export run m lora").status == 0);
  CHECK_THAT(folder.read("lora/chat_template.jinja"), Contains("<|im_start|>"));
  CHECK(fs::exists(folder.path() / "lora/tokenizer_config.json"));
  CHECK(object_in(folder, "lora/generation_config.json")["eos_token_id"] == json::array({0, 2}));
  CHECK_FALSE(fs::exists(folder.path() / "lora/config.json"));
  CHECK(run_hydra(folder, "generate lora" + how).out == "a\n");
  REQUIRE(run_hydra(folder, "export run m merged --merge").status == 0);
  CHECK(object_in(folder, "merged/config.json")["eos_token_id"] == json::array({0, 2}));
  CHECK(fs::exists(folder.path() / "merged/chat_template.jinja"));
}

TEST_CASE("an adapter that is continued has the tokenizer, the template and the ends that are stored beside it") {
  const temporary_folder folder;
  write_base(folder);
  folder.write("base/chat_template.jinja", "the base's own");
  const std::string texts = "kind = \"jsonl\"\ntext = \"t\"\n";
  train(folder, texts, "adapter = { rank = 2 }\n");
  REQUIRE(run_hydra(folder, "export run m lora").status == 0);
  fs::remove(folder.path() / "lora/SHA256SUMS");
  folder.write("lora/tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
  folder.write("lora/chat_template.jinja", "the adapter's own");
  folder.write("lora/generation_config.json", R"({"repetition_penalty": 2, "eos_token_id": 1})");
  fs::remove_all(folder.path() / "run");
  train(folder, texts, "adapter = { from = \"lora\" }\n");
  const json sample = json::parse(run_hydra(folder, "data w.toml --json").out)[0]["samples"][0];
  CHECK(sample["tokens"].back()["id"] == 0);  // what ends the text
  REQUIRE(run_hydra(folder, "export run m again").status == 0);
  CHECK(folder.read("again/tokenizer_config.json") == folder.read("lora/tokenizer_config.json"));
  CHECK(folder.read("again/chat_template.jinja") == "the adapter's own");
  CHECK(object_in(folder, "again/generation_config.json") ==
        json({{"repetition_penalty", 2}, {"eos_token_id", {1, 0}}}));
  CHECK_THAT(run_hydra(folder, "generate run" + how).err, Contains("lora/generation_config.json: Hydra does not use"));
}

TEST_CASE(
    "an adapter that is continued has the ends that are stored beside it also where the tokenizer is the base's") {
  const temporary_folder folder;
  write_base(folder);
  const std::string texts = "kind = \"jsonl\"\ntext = \"t\"\n";
  train(folder, texts, "adapter = { rank = 2 }\n");
  REQUIRE(run_hydra(folder, "export run m lora").status == 0);
  for (const char* const file : {"SHA256SUMS", "tokenizer.json", "tokenizer_config.json"})
    fs::remove(folder.path() / "lora" / file);
  folder.write("base/generation_config.json", R"({"eos_token_id": 7})");
  folder.write("lora/generation_config.json", R"({"repetition_penalty": 2, "eos_token_id": 0})");
  fs::remove_all(folder.path() / "run");
  train(folder, texts, "adapter = { from = \"lora\" }\n");
  const outcome text = run_hydra(folder, "generate run" + how);
  CHECK(text.out == "a\n");
  CHECK_THAT(text.err, Contains("lora/generation_config.json: Hydra does not use"));
  REQUIRE(run_hydra(folder, "export run m again").status == 0);
  CHECK(object_in(folder, "again/generation_config.json") ==
        json({{"repetition_penalty", 2}, {"eos_token_id", {0, 2}}}));
}

TEST_CASE("a tokenizer.model without settings is exported with a tokenizer.json, or a note") {
  const temporary_folder folder;
  write_base(folder);
  fs::remove(folder.path() / "base/tokenizer.json");
  using kind = test::made_piece::kind;
  const auto model = [](test::made_model type) {
    return test::sentencepiece_file(type, {{"<unk>", 0, kind::unknown},
                                           {"<s>", 0, kind::control},
                                           {"</s>", 0, kind::control},
                                           {"\u2581", -1},
                                           {"a", -2}});
  };
  folder.write("base/tokenizer.model", model(test::made_model::bpe));
  train(folder, "kind = \"chat\"\ntemplate = \"mistral\"\n");
  const outcome exported = run_hydra(folder, "export run m out");
  CHECK(exported.err == "the weights of m after step 1 of 1\n");
  CHECK(object_in(folder, "out/config.json")["eos_token_id"] == 2);
  CHECK(object_in(folder, "out/tokenizer_config.json")["bos_token"] == "<s>");
  const std::string ids = " talks.jsonl --template mistral --json --tokenizer ";
  CHECK(run_hydra(folder, "tokenize" + ids + "out").out == run_hydra(folder, "tokenize" + ids + "base").out);
  fs::remove(folder.path() / "out/tokenizer.json");
  CHECK(run_hydra(folder, "tokenize" + ids + "out").out == run_hydra(folder, "tokenize" + ids + "base").out);
  folder.write("base/tokenizer.model", model(test::made_model::unigram));
  fs::remove_all(folder.path() / "run");
  train(folder, "kind = \"chat\"\ntemplate = \"mistral\"\n");
  const outcome other = run_hydra(folder, "export run m other");
  CHECK(other.status == 0);
  CHECK_THAT(other.err, Contains("note: transformers reads this tokenizer.model by rules of its own"));
  CHECK_FALSE(fs::exists(folder.path() / "other/tokenizer_config.json"));
}

TEST_CASE(
    "a tokenizer.model with settings is exported as it is, and a note says once that transformers may read it "
    "otherwise") {
  const temporary_folder folder;
  write_base(folder);
  fs::remove(folder.path() / "base/tokenizer.json");
  using kind = test::made_piece::kind;
  folder.write("base/tokenizer.model", test::sentencepiece_file(test::made_model::bpe, {{"<unk>", 0, kind::unknown},
                                                                                        {"<s>", 0, kind::control},
                                                                                        {"</s>", 0, kind::control},
                                                                                        {"\u2581", -1},
                                                                                        {"a", -2}}));
  folder.write("base/tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  train(folder, "kind = \"chat\"\ntemplate = \"mistral\"\n");
  const outcome o = run_hydra(folder, "export run m out");
  const std::string note = "note: transformers reads this tokenizer.model by rules of its own";
  CHECK(o.err.find(note) != o.err.npos);
  CHECK(o.err.find(note) == o.err.rfind(note));
  CHECK_FALSE(fs::exists(folder.path() / "out/tokenizer.json"));
  CHECK(folder.read("out/tokenizer_config.json") == folder.read("base/tokenizer_config.json"));
}

}  // namespace hydra::apps::chat_test
