#include "apps/workload/assemble.hpp"

#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string assembly_refusal(const std::string& text) {
  const workload w = parse_workload(text, "w.toml");
  session s{w.options};
  try {
    assemble(s, w);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

/// Why the models cannot be planned; empty if they can.
fault plan_refusal(const std::string& text) {
  workload w = parse_workload(text, "w.toml");
  w.options.log = verbosity::quiet;
  session s{w.options};
  assemble(s, w);
  try {
    s.plan();
    return {};
  } catch (const fault_error& e) {
    return e.what_happened();
  }
}

std::string text_data(const std::filesystem::path& file) {
  return "kind = \"text\"\ntrain = \"" + file.string() + "\"";
}

}  // namespace

TEST_CASE("the example can be assembled") { CHECK(assembly_refusal(example) == ""); }

TEST_CASE("a loss in chunks is for heads that compute rows alone, and is refused where it is written") {
  const std::string chunked = bent("steps = 3", "steps = 3\nloss_chunk = 2");
  CHECK(assembly_refusal(chunked) == "");
  std::string classes = chunked;
  const auto replace = [&classes](const std::string& part, const std::string& by) {
    classes.replace(classes.find(part), part.size(), by);
  };
  replace("synthetic-language", "synthetic-classes");
  replace("family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4",
          "family = \"mlp\", layers = 2, width = 8");
  CHECK_THAT(assembly_refusal(classes), StartsWith("w.toml:17: model.loss_chunk: ") && Contains("leave it out"));
}

TEST_CASE("a format of the base is for models that have one, and is refused where it is written") {
  CHECK(assembly_refusal(bent("steps = 3", "steps = 3\nadapter = { rank = 2 }\nbase = \"nf4\"")) == "");
  CHECK(assembly_refusal(bent("steps = 3", "steps = 3\nfreeze = [\"*wte*\"]\nbase = \"bf16\"")) == "");
  CHECK_THAT(assembly_refusal(bent("steps = 3", "steps = 3\nbase = \"nf4\"")),
             StartsWith("w.toml:17: model.base: ") && Contains("has no frozen parameters") && Contains("\"adapter\""));
}

TEST_CASE("a group of parameters that the model does not have is refused where the optimizer is written") {
  const std::string text =
      bent("{ learning_rate = 1e-3 }",
           "{ learning_rate = 1e-3, groups = [{ parameters = [\"*.biass\"], weight_decay = 0 }] }");
  CHECK_THAT(assembly_refusal(text),
             StartsWith("w.toml:17: model.gpt.optimizer: ") && Contains("\"*.biass\", which no trained parameter"));
}

TEST_CASE("a group that changes nothing is refused, unless a grid varies what it keeps") {
  const std::string groups = "groups = [{ parameters = [\"*.bias\"], learning_rate = 1e-3 }]";
  const std::string idle = bent("{ learning_rate = 1e-3 }", "{ learning_rate = 1e-3, " + groups + " }");
  CHECK_THAT(assembly_refusal(idle),
             StartsWith("w.toml:17: model.gpt.optimizer: group 1 of groups, \"*.bias\", changes nothing"));
  const std::string varied =
      bent("{ learning_rate = 1e-3 }", "{ " + groups + " }") + "[model.grid]\nlearning_rate = [1e-3, 1e-4]\n";
  std::string named = varied;
  named.replace(named.find("\"gpt\""), 5, "\"gpt-{learning_rate}\"");
  CHECK(assembly_refusal(named) == "");
}

TEST_CASE("a schedule that the model's steps or epochs cannot hold is refused where it is written") {
  const auto of = [](const std::string& length, const std::string& keys) {
    return assembly_refusal(bent("steps = 3", length + "\nschedule = { " + keys + " }"));
  };
  CHECK(of("steps = 3", "warmup = 3") == "");
  CHECK_THAT(of("steps = 3", "warmup = 4"),
             StartsWith("w.toml:17: model.gpt.schedule: warmup is 4, but the model is trained for 3 steps"));
  CHECK(of("epochs = 1", "warmup = 4") == "");
  CHECK_THAT(of("epochs = 1", "warmup = 900000000"), StartsWith("w.toml:17: model.gpt.schedule: warmup is 900000000"));
  CHECK_THAT(of("steps = 3", "kind = \"wsd\", warmup = 3"),
             StartsWith("w.toml:17: model.gpt.schedule: a warm-up of 3"));
  CHECK_THAT(of("steps = 3", "kind = \"cosine-restarts\", cycles = 4"),
             StartsWith("w.toml:17: model.gpt.schedule: cycles is 4"));
}

TEST_CASE("a text shorter than one sample is refused where the data are described") {
  const temporary_folder folder;
  CHECK_THAT(assembly_refusal(bent("kind = \"synthetic-language\"", text_data(folder.write("short.txt", "abc")))),
             StartsWith("w.toml:8: data.language: ") && Contains("short.txt"));
}

TEST_CASE("tokens that end within one, and a context longer than the data, are refused where the data are described") {
  const temporary_folder folder;
  const std::string file = folder.write("three.bin", "abc").string();
  CHECK_THAT(assembly_refusal(
                 bent("kind = \"synthetic-language\"", "kind = \"tokens\"\nvocabulary = 9\ntrain = \"" + file + "\"")),
             StartsWith("w.toml:8: data.language: ") && Contains("three.bin"));
  CHECK_THAT(assembly_refusal(bent("context = 4", "context = 300000")),
             StartsWith("w.toml:8: data.language: ") && Contains("300000"));
}

TEST_CASE("a text that is not UTF-8 is refused where the data are described") {
  const temporary_folder folder;
  CHECK_THAT(assembly_refusal(bent("kind = \"synthetic-language\"",
                                   text_data(folder.write("latin.txt", "caf\xE9 au lait, s'il vous plait")))),
             StartsWith("w.toml:8: data.language: ") && Contains("latin.txt"));
}

TEST_CASE(
    "a text for a model that starts from a checkpoint is read by the checkpoint's tokenizer, and refused if it has "
    "none") {
  const temporary_folder folder;
  const auto tiny = folder.path() / "tiny";
  test::write_checkpoint(tiny, test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
  std::string text = bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }",
                          "{ from = \"" + tiny.string() + "\" }");
  const std::string kind = "kind = \"synthetic-language\"";
  text.replace(text.find(kind), kind.size(), text_data(folder.write("a.txt", std::string(100, 'a'))));
  CHECK_THAT(assembly_refusal(text),
             StartsWith("w.toml:8: data.language: ") && Contains("tiny, which has no tokenizer"));
  folder.write("tiny/vocab.json", R"({"a": 0, "aa": 1})");
  folder.write("tiny/merges.txt", "a a\n");
  CHECK(assembly_refusal(text) == "");
}

TEST_CASE("two models that start from different checkpoints read a text by different tokenizers") {
  const temporary_folder folder;
  const std::string data = text_data(folder.write("a.txt", std::string(100, 'a')));
  std::string text = bent("kind = \"synthetic-language\"", data);
  text.resize(text.find("[[model]]"));
  for (const std::string name : {"one", "two"}) {
    test::write_checkpoint(folder.path() / name, test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
    folder.write(name + "/vocab.json", R"({"a": 0, "aa": 1})");
    text += "[[model]]\nname = \"" + name + "\"\nchain = { from = \"" + (folder.path() / name).string() +
            "\" }\ndata = \"language\"\nbatch_size = 16\nsteps = 1\noptimizer = { learning_rate = 1e-3 }\n";
  }
  folder.write("one/merges.txt", "#version: 0.2\n");
  folder.write("two/merges.txt", "a a\n");  // half as many tokens: too few for a batch
  CHECK_THAT(assembly_refusal(text), Contains("two") && Contains("8 training samples"));
}

TEST_CASE("a vocabulary too small for the data is refused where the chain is described") {
  CHECK_THAT(assembly_refusal(bent("heads = 2", "heads = 2, vocabulary = 31")), StartsWith("w.toml:13: model.chain: "));
}

TEST_CASE("a family that cannot be used with its devices' precision is refused where the chain is described") {
  std::string text =
      bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }", "{ family = \"resnet\" }");
  const std::string kind = "kind = \"synthetic-language\"";
  text.replace(text.find(kind), kind.size(), "kind = \"synthetic-classes\"\nshape = [3, 32, 32]");
  CHECK(assembly_refusal(text) == "");
  const std::string memory = "memory = \"24MiB\"";
  CHECK_THAT(assembly_refusal(text.replace(text.find(memory), memory.size(), memory + "\nprecision = \"bf16\"")),
             StartsWith("w.toml:15: model.chain: ") && Contains("bf16"));
}

TEST_CASE("a language is refused for a chain that needs features") {
  CHECK_THAT(assembly_refusal(bent("{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }",
                                   "{ family = \"mlp\", width = 8 }")),
             StartsWith("w.toml:"));
}

TEST_CASE("features are refused for a language model") {
  CHECK_THAT(assembly_refusal(bent("kind = \"synthetic-language\"", "kind = \"synthetic-classes\"")),
             StartsWith("w.toml:") && Contains("gpt2"));
}

TEST_CASE("data shorter than a batch are refused where the batch is given") {
  CHECK(assembly_refusal(bent("batch_size = 4", "batch_size = 49999")) == "");
  CHECK_THAT(assembly_refusal(bent("batch_size = 4", "batch_size = 50000")),
             StartsWith("w.toml:15: model.batch_size: ") && Contains("49999 training samples"));
}

TEST_CASE("a cut behind the last layer is refused where the cuts are given") {
  CHECK_THAT(assembly_refusal(bent("steps = 3", "steps = 3\ncuts = [0, 4]")), StartsWith("w.toml:17: model.cuts: "));
}

TEST_CASE("what asks for more memory than the host has is refused where it is written") {
  const place where{std::make_shared<std::string>("w.toml"), 8};
  const auto open = []() -> int { throw std::bad_alloc{}; };
  CHECK_THROWS_WITH(located(where, "data.d", open),
                    StartsWith("w.toml:8: data.d: this needs more memory than the host has"));
  try {
    located(where, "data.d", open);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::does_not_fit);
  }
}

TEST_CASE("a layer of more bytes than there can be is refused before it is measured") {
  const fault f = plan_refusal(bent("width = 8", "width = 8, vocabulary = 9223372036854775807"));
  CHECK(f.code == fault_code::does_not_fit);
  CHECK_THAT(f.text, Contains("model 'gpt': layer 0 (") && Contains("more bytes than can be counted"));
}

TEST_CASE("budgets that are too small are refused with what is needed, a device by its name") {
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {bent("24MiB", "2KiB"), "KiB"},
           {bent("seed = 7", "[host]\nmemory = \"3KiB\""), "KiB"},
           {example + "[[device]]\nkind = \"cpu\"\nmemory = \"2KiB\"\n", "cpu:1"}}) {
    const fault f = plan_refusal(text);
    CHECK(f.code == fault_code::does_not_fit);
    CHECK_THAT(f.text, Contains(says));
  }
}

}  // namespace hydra::apps
