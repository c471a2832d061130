// Workloads that are written for a checkpoint and files of one's own.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hydra::apps::init_test {

using Catch::Contains;

namespace fs = std::filesystem;

constexpr std::int64_t width = 8, hidden = 12, kv_width = 4, rows = 260;

/// A Llama of one layer in "llama", with a tokenizer of bytes and these tokens.
void write_llama(const temporary_folder& folder, const std::string& special = "--special '<|endoftext|>'") {
  const nlohmann::json config{{"architectures", {"LlamaForCausalLM"}},
                              {"model_type", "llama"},
                              {"hidden_size", width},
                              {"num_hidden_layers", 1},
                              {"num_attention_heads", 2},
                              {"num_key_value_heads", 1},
                              {"intermediate_size", hidden},
                              {"max_position_embeddings", 512},
                              {"vocab_size", rows},
                              {"hidden_act", "silu"},
                              {"rms_norm_eps", 1e-6},
                              {"tie_word_embeddings", false}};
  const std::string layer = "model.layers.0.";
  test::hub_test_tensors tensors;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{
           {"model.embed_tokens.weight", {rows, width}},
           {layer + "input_layernorm.weight", {width}},
           {layer + "self_attn.q_proj.weight", {width, width}},
           {layer + "self_attn.k_proj.weight", {kv_width, width}},
           {layer + "self_attn.v_proj.weight", {kv_width, width}},
           {layer + "self_attn.o_proj.weight", {width, width}},
           {layer + "post_attention_layernorm.weight", {width}},
           {layer + "mlp.gate_proj.weight", {hidden, width}},
           {layer + "mlp.up_proj.weight", {hidden, width}},
           {layer + "mlp.down_proj.weight", {width, hidden}},
           {"model.norm.weight", {width}},
           {"lm_head.weight", {rows, width}}})
    tensors[name] = test::ramp(shape, -0.1F);
  test::write_checkpoint(folder.path() / "llama", config, tensors);
  folder.write("learn.txt", "abcd");
  REQUIRE(run_hydra(folder, "tokenize learn.txt --train 260 --output llama/tokenizer.json " + special).status == 0);
}

std::string three_times(const std::string& record, const std::string& separator) {
  return record + separator + record + separator + record;
}

const std::string talk = R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})";

struct own_file {
  std::string name, text, kind;
};

/// Of each kind; nothing in them is left unread, and all samples are in batches.
std::vector<own_file> own_files() {
  const auto array = [](const std::string& record) { return "[" + three_times(record, ",\n") + "]"; };
  return {{"talks.jsonl", three_times(talk, "\n"), "chat"},
          {"sharegpt.json",
           array(R"({"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]})"), "chat"},
          {"alpaca.json", array(R"({"instruction": "a", "input": "", "output": "b"})"), "alpaca"},
          {"pairs.jsonl", three_times(R"({"prompt": "a", "completion": "b"})", "\n"), "prompt-completion"},
          {"questions.jsonl", three_times(R"({"question": "a", "answer": "b"})", "\n"), "jsonl"},
          {"texts.jsonl", three_times(R"({"text": "abc"})", "\n"), "jsonl"},
          {"rows.tsv", "what\nabc\nabd\n", "csv"},
          {"book.txt", std::string(2049, 'a'), "text"}};
}

TEST_CASE("for each kind of data a workload is written that is read without a note") {
  const temporary_folder folder;
  write_llama(folder);
  for (const own_file& file : own_files()) {
    folder.write(file.name, file.text);
    const std::string output = file.name.substr(0, file.name.find('.')) + ".toml";
    const outcome made = run_hydra(folder, "init llama " + file.name + " --output " + output);
    CAPTURE(made.err, folder.read(output));
    REQUIRE(made.status == 0);
    CHECK_THAT(made.out, Contains(output + " is written; next: hydra plan " + output));
    CHECK_THAT(folder.read(output), Contains("kind = \"" + file.kind + "\"") && Contains("adapter = { rank = 16 }"));
    const outcome shown = run_hydra(folder, "data " + output);
    CAPTURE(shown.err);
    CHECK(shown.status == 0);
    CHECK_THAT(shown.out + shown.err,
               Contains("as llama-lr1e-4, llama-lr2e-4, llama-lr4e-4 see it") && !Contains("note"));
  }
}

TEST_CASE("the workload that is written is planned without a note, and trains a model for each learning rate") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("talks.jsonl", three_times(talk, "\n"));
  REQUIRE(run_hydra(folder, "init llama 'ta*.jsonl'").status == 0);
  CHECK_THAT(run_hydra(folder, "plan workload.toml").out, Contains("llama-lr4e-4") && !Contains("notes:"));
  const outcome trained =
      run_hydra(folder, "train workload.toml --quiet --set data.own.packing=false --set model.epochs=1");
  CAPTURE(trained.err, folder.read("workload.toml"));
  CHECK(trained.status == 0);
  for (const char* model : {"llama-lr1e-4 ", "llama-lr2e-4 ", "llama-lr4e-4 "})
    CHECK_THAT(trained.out, Contains(model));
  CHECK(fs::exists(folder.path() / "runs" / "workload" / "report.json"));
}

TEST_CASE("conversations are written by a template whose tokens the tokenizer has") {
  const temporary_folder folder;
  write_llama(folder, "--special '<|im_start|>' --special '<|im_end|>' --special '<|endoftext|>'");
  folder.write("talks.jsonl", three_times(talk, "\n"));
  REQUIRE(run_hydra(folder, "init llama talks.jsonl").status == 0);
  CHECK_THAT(folder.read("workload.toml"), Contains("template = \"chatml\""));
}

TEST_CASE("conversations are written by the model's own chat template where it has one") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("llama/chat_template.jinja", "{% for m in messages %}{{ m.content + '<|endoftext|>' }}{% endfor %}");
  folder.write("talks.jsonl", three_times(talk, "\n"));
  const outcome made = run_hydra(folder, "init llama talks.jsonl");
  CHECK(made.status == 0);
  CHECK(made.err.empty());
  CHECK_THAT(folder.read("workload.toml"), !Contains("template ="));
  CHECK_THAT(run_hydra(folder, "plan workload.toml").out, Contains("llama-lr4e-4") && !Contains("notes:"));
}

TEST_CASE("in a template of plain words an answer ends as a text does") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("talks.jsonl", three_times(talk, "\n"));
  REQUIRE(run_hydra(folder, "init llama talks.jsonl").status == 0);
  CHECK_THAT(folder.read("workload.toml"), Contains(R"(assistant = ["Assistant: ", "<|endoftext|>\n"])"));
  CHECK_THAT(run_hydra(folder, "data workload.toml --show 1").out, Contains(R"(*"b" *"<|endoftext|>")"));
}

TEST_CASE("a template whose mark behind answers is no token is told of by init, data, plan and train") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("llama/chat_template.jinja", "{% for m in messages %}{{ m.content + '<|eot_id|>' }}{% endfor %}");
  folder.write("talks.jsonl", three_times(talk, "\n"));
  const std::string once = " --quiet --set data.own.packing=false --set model.epochs=1";
  const std::string init = run_hydra(folder, "init llama talks.jsonl").err;
  for (const std::string& said :
       {init, run_hydra(folder, "data workload.toml").out, run_hydra(folder, "plan workload.toml").out,
        run_hydra(folder, "train workload.toml" + once).err})
    CHECK_THAT(said, Contains("no token ends an answer") &&
                         Contains("llama/chat_template.jinja writes \"<|eot_id|>\" behind it") &&
                         Contains("tokens = [\"<|eot_id|>\"]"));
}

TEST_CASE("settings that differ from the sums beside them are refused by init, data and plan as by train") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("llama/chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  folder.write("talks.jsonl", three_times(talk, "\n"));
  const std::string sums = "cd '" + (folder.path() / "llama").string() + "' && sha256sum *.* >SHA256SUMS";
  REQUIRE(std::system(sums.c_str()) == 0);
  REQUIRE(run_hydra(folder, "init llama talks.jsonl").status == 0);
  REQUIRE(run_hydra(folder, "plan workload.toml").status == 0);
  folder.write("llama/chat_template.jinja", "{% for m in messages %}{{ m.content + ';' }}{% endfor %}");
  for (const char* command : {"init llama talks.jsonl --output other.toml", "data workload.toml", "plan workload.toml",
                              "train workload.toml --output run"}) {
    const outcome o = run_hydra(folder, command);
    CAPTURE(command, o.err);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains("model.chain.from: llama/chat_template.jinja is not the file that was exported") &&
                          Contains("remove its line from llama/SHA256SUMS"));
  }
  CHECK_FALSE(fs::exists(folder.path() / "run"));
}

TEST_CASE("records that cannot be read are left out, which the workload says") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("a.json", "[{\"instruction\": \"a\", \"output\": \"\"}, " +
                             three_times(R"({"instruction": "a", "output": "b"})", ",") + "]");
  const outcome made = run_hydra(folder, "init llama a.json");
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  CHECK_THAT(folder.read("workload.toml"), Contains("bad_rows = \"leave-out\""));
  CHECK_THAT(run_hydra(folder, "plan workload.toml").out, Contains("record 1: \"output\" is empty"));
}

TEST_CASE("what cannot be read is named, and nothing is written") {
  const temporary_folder folder;
  write_llama(folder);
  folder.write("talks.jsonl", talk);
  folder.write("odd.jsonl", R"({"a": "b"})");
  fs::create_directories(folder.path() / "pictures");
  fs::create_directories(folder.path() / "other");
  folder.write("other/config.json", R"({"architectures": ["OtherForCausalLM"]})");
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    const outcome o = run_hydra(folder, "init " + arguments);
    CAPTURE(arguments, o.err);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains(why));
    CHECK_FALSE(fs::exists(folder.path() / "workload.toml"));
  };
  refused("other talks.jsonl", "\"OtherForCausalLM\" is not an architecture that Hydra reads");
  refused("nowhere talks.jsonl", "nowhere is not a folder");
  refused("llama none.jsonl", "none.jsonl: there is no such file");
  refused("llama 'x*.jsonl'", "no file matches \"x*.jsonl\"");
  refused("llama odd.jsonl", "odd.jsonl:1: which fields are learnt is not known of \"a\"");
  folder.write("empty.jsonl", R"({"text": ""})");
  refused("llama empty.jsonl", "empty.jsonl:1: \"text\" is empty");
  refused("llama pictures", "is data of kind = \"images\", and llama (llama) takes texts");
  folder.write("kept.toml", "kept");
  refused("llama talks.jsonl --output kept.toml", "--output kept.toml: exists and is not overwritten");
  refused("nowhere talks.jsonl --output kept.toml", "nowhere is not a folder");
  refused("llama none.jsonl --output kept.toml", "none.jsonl: there is no such file");
  CHECK(folder.read("kept.toml") == "kept");
}

}  // namespace hydra::apps::init_test
