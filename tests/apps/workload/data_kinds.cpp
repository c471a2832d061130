// [data.NAME] of kinds in files: what their keys become, and what is refused.

#include "apps/workload/data_kinds.hpp"

#include "apps/workload/check.hpp"
#include "apps/workload/parse.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// One table of data that names files of this folder as DIR.
struct data_table {
  temporary_folder folder;

  data_table() {
    for (const char* file : {"t", "v", "tokenizer.json", "vocab.json", "merges.txt"}) folder.write(file, "x");
  }

  value_table parsed(std::string text) const {
    for (auto at = text.find("DIR"); at != std::string::npos; at = text.find("DIR"))
      text.replace(at, 3, folder.path().string());
    return parse_toml(text, "w.toml");
  }

  data_description read(const std::string& text) const {
    value_table table = parsed(text);
    const place where{std::make_shared<std::string>("w.toml"), 1};
    check_table({table, where, "data.d."}, data_rules());
    expand_patterns(table);
    return read_data(table);
  }

  template <class Kind>
  Kind as(const std::string& text) const {
    return std::get<Kind>(read(text).what);
  }

  /// The message of the refusal; empty if the data are accepted.
  std::string refusal(const std::string& text) const {
    try {
      read(text);
      return "";
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
  }
};

const std::string chat = "kind = \"chat\"\ntrain = \"DIR/t\"\n";
const std::string text = "kind = \"text\"\ntrain = \"DIR/t\"\n", jsonl = "kind = \"jsonl\"\ntrain = \"DIR/t\"\n",
                  csv = "kind = \"csv\"\ntrain = \"DIR/t\"\n", images = "kind = \"images\"\ntrain = \"DIR\"\n",
                  cifar = "kind = \"cifar\"\n", tokens = "kind = \"tokens\"\ntrain = \"DIR/t\"\n";

}  // namespace

TEST_CASE("a text is read as bytes, by the named tokenizer, or without a choice of either") {
  const data_table t;
  CHECK(t.as<text_files>(text).tokenizer == tokenizer_choice{});
  CHECK(t.as<text_files>(text + "tokenizer = \"bytes\"").tokenizer == tokenizer_choice{.bytes = true});
  CHECK(t.as<text_files>(text + "tokenizer = { file = \"DIR/tokenizer.json\" }").tokenizer.file ==
        t.folder.path() / "tokenizer.json");
  CHECK(t.as<text_files>(text + "tokenizer = { file = \"DIR\" }").tokenizer.file == t.folder.path());
  const auto two =
      t.as<text_files>(text + "[tokenizer]\nvocab = \"DIR/vocab.json\"\nmerges = \"DIR/merges.txt\"").tokenizer;
  CHECK(two.vocab == t.folder.path() / "vocab.json");
  CHECK(two.merges == t.folder.path() / "merges.txt");
  const auto masked = t.as<text_files>(text + "mask_share = 0.3\nseed = 5").masking;
  CHECK(masked.share == 0.3);
  CHECK(masked.seed == 5);
}

TEST_CASE("a tokenizer that is neither bytes nor files is refused") {
  const data_table t;
  const auto with = [&](const std::string& is) { return t.refusal(text + "tokenizer = " + is); };
  for (const char* wrong : {"\"gpt2\"", "3", "{}", "{ merges = \"DIR/t\" }", "{ file = \"DIR/t\", vocab = \"DIR/t\" }",
                            "{ file = \"\" }", "{ file = 3 }"})
    CHECK_THAT(with(wrong), StartsWith("w.toml:3: data.d.tokenizer: ") && Contains("{ vocab = "));
  CHECK_THAT(with("{ fil = \"DIR/t\" }"), StartsWith("w.toml:3: data.d.tokenizer.fil: unknown key"));
  CHECK_THAT(with("{ file = \"DIR/none\" }"), StartsWith("w.toml:3: data.d.tokenizer.file: no such file"));
  CHECK_THAT(with("{ file = \"no/such\" }"), Contains("hf download no/such --local-dir such"));
  CHECK_THAT(with("{ vocab = \"DIR\" }"),
             StartsWith("w.toml:3: data.d.tokenizer.vocab: ") && Contains(": a folder; a file is expected"));
}

TEST_CASE("tokens need a vocabulary or a tokenizer") {
  const data_table t;
  CHECK(t.as<token_files>(tokens + "vocabulary = 7").vocabulary == 7);
  CHECK(t.refusal(tokens + "tokenizer = { file = \"DIR\" }") == "");
  CHECK_THAT(t.refusal(tokens), StartsWith("w.toml:1: data.vocabulary: missing"));
}

TEST_CASE("every key of JSON Lines reaches its options") {
  const data_table t;
  CHECK(t.as<jsonl_files>(jsonl).text == "text");
  CHECK_FALSE(t.as<jsonl_files>(jsonl).packing);
  const auto d = t.as<jsonl_files>(jsonl + R"(validation = "DIR/v"
text = "body"
prompt = "q"
answer = "a"
label = "l"
labels = ["no", 1]
packing = true
)");
  CHECK(d.validation == file_list{t.folder.path() / "v"});
  CHECK(d.text == "body");
  CHECK(d.prompt == "q");
  CHECK(d.answer == "a");
  CHECK(d.label == "l");
  CHECK(d.labels == std::vector<class_label>{std::string{"no"}, std::int64_t{1}});
  CHECK(d.packing);
  CHECK_THAT(t.refusal(jsonl + "labels = [\"a\"]"), StartsWith("w.toml:3: data.d.labels: "));
  CHECK_THAT(t.refusal(jsonl + "labels = [1.5, 2]"), Contains("texts or integers"));
  CHECK_THAT(t.refusal(text + "packing = true"), Contains("it belongs to kind \"jsonl\""));
}

TEST_CASE("a prompt with fields is checked when the workload is read") {
  const data_table t;
  CHECK(t.as<jsonl_files>(jsonl + "prompt = \"{a}\\n{b?}\"\nanswer = \"c\"").prompt == "{a}\n{b?}");
  CHECK_THAT(t.refusal(jsonl + "prompt = \"{a\"\nanswer = \"c\""),
             StartsWith("w.toml:3: data.d.prompt: a brace without its other one"));
  CHECK_THAT(t.refusal(jsonl + "text = \"{}\""), StartsWith("w.toml:3: data.d.text: braces without the name"));
  CHECK_THAT(t.refusal(jsonl + "text = 3"), Contains("expected the name of a field, or a text with fields"));
}

TEST_CASE("Alpaca's records and prompts with completions are kinds of their own, without names of fields") {
  const data_table t;
  const auto a =
      t.as<jsonl_files>("kind = \"alpaca\"\ntrain = \"DIR/t\"\nvalidation_share = 0.1\npacking = true\nseed = 3");
  CHECK(a.kind == "alpaca");
  CHECK(a.answer == "output");
  CHECK_THAT(a.prompt, Contains("### Input:\n{input}\n\n### Response:"));
  CHECK_THAT(a.short_prompt, !Contains("input") && Contains("### Instruction:\n{instruction}\n\n### Response:"));
  CHECK(a.validation_share == 0.1);
  CHECK(a.packing);
  CHECK(a.masking.seed == 3);
  const auto p = t.as<jsonl_files>("kind = \"prompt-completion\"\ntrain = \"DIR/t\"\nbad_rows = \"leave-out\"");
  CHECK(p.prompt == "prompt");
  CHECK(p.answer == "completion");
  CHECK(p.short_prompt.empty());
  CHECK(p.bad_rows == bad_row_rule::leave_out);
  CHECK_THAT(t.refusal("kind = \"alpaca\"\ntrain = \"DIR/t\"\nprompt = \"a\""),
             Contains("it belongs to kind \"jsonl\""));
}

TEST_CASE("records may be in several files, named one by one or by a pattern") {
  const data_table t;
  const auto files = [&](const std::string& train) {
    return t.as<jsonl_files>("kind = \"jsonl\"\ntrain = " + train).train;
  };
  const auto t_and_v = file_list{std::vector{t.folder.path() / "t", t.folder.path() / "v"}};
  CHECK(files("[\"DIR/t\", \"DIR/v\"]") == t_and_v);
  CHECK(files("\"DIR/[tv]\"") == t_and_v);
  CHECK_THAT(t.refusal("kind = \"jsonl\"\ntrain = \"DIR/x*\""), Contains("data.d.train: no file matches"));
  CHECK_THAT(t.refusal("kind = \"jsonl\"\ntrain = \"~/x*\""), Contains("\"~\" is not expanded here: write "));
  CHECK_THAT(t.refusal("kind = \"jsonl\"\ntrain = [\"DIR/t\", \"DIR/w\"]"), Contains("data.d.train: no such file"));
  CHECK_THAT(t.refusal("kind = \"jsonl\"\ntrain = [\"DIR/t\", \"DIR/[tv]\"]"), Contains("is named twice"));
  CHECK_THAT(t.refusal("kind = \"jsonl\"\ntrain = []"), Contains("a pattern such as"));
  CHECK(t.as<jsonl_files>(jsonl + "validation_share = 0.1").validation_share == 0.1);
}

TEST_CASE("every key of conversations reaches its options") {
  const data_table t;
  const auto d = t.as<chat_files>(chat + "template = \"llama-3\"\n");
  CHECK(d.format == template_choice{"llama-3"});
  CHECK(d.loss == chat_loss::assistant);
  CHECK(d.packing);
  const auto other = t.as<chat_files>(chat + R"(template = { user = ["Q: ", ""], assistant = ["A: ", "."] }
validation = "DIR/v"
loss_on = "last"
packing = false
seed = 3
)");
  CHECK(other.format == template_choice{.roles = {{"user", {"Q: ", ""}}, {"assistant", {"A: ", "."}}}});
  CHECK(other.validation == file_list{t.folder.path() / "v"});
  CHECK(other.loss == chat_loss::last);
  CHECK_FALSE(other.packing);
  CHECK(other.seed == 3);
  CHECK(t.as<chat_files>(chat).format == template_choice{});  // the checkpoint's
  CHECK(t.as<chat_files>(chat + "template = \"checkpoint\"").format == template_choice{"checkpoint"});
  CHECK_THAT(t.refusal(chat + "template = \"chatm\""), Contains("did you mean \"chatml\""));
  CHECK_THAT(t.refusal(chat + "template = 3"), Contains("what is written around each role's messages"));
  CHECK_THAT(t.refusal(chat + "template = { user = [\"a\"] }"),
             Contains("data.d.template.user: ") && Contains("two texts"));
  CHECK_THAT(t.refusal(chat + "template = {}"), Contains("data.d.template: "));
}

TEST_CASE("every key of comma-separated values reaches its options") {
  const data_table t;
  CHECK(t.as<csv_files>(csv).standardise);
  CHECK(t.as<csv_files>(csv).separator == ',');
  const auto d = t.as<csv_files>(csv + R"(target = "y"
columns = ["a", "b"]
regression = true
standardise = false
text = "t"
separator = "tab"
)");
  CHECK(d.target == "y");
  CHECK(d.columns == std::vector<std::string>{"a", "b"});
  CHECK(d.regression);
  CHECK_FALSE(d.standardise);
  CHECK(d.text == "t");
  CHECK(d.separator == '\t');
  CHECK_THAT(t.refusal(csv + "separator = \"x\""), StartsWith("w.toml:3: data.d.separator: "));
}

TEST_CASE("every key of images reaches its options") {
  const data_table t;
  CHECK(t.as<image_folders>(images).size.empty());
  const auto d = t.as<image_folders>(images + R"(validation_share = 0.25
labels = ["dog", "cat"]
size = [5, 7]
channels = 1
mean = [0.5]
deviation = [2]
flip = true
seed = 9
)");
  CHECK(d.train == t.folder.path());
  CHECK(d.validation_share == 0.25);
  CHECK(d.labels == std::vector<class_label>{"dog", "cat"});
  CHECK(d.size == std::vector<std::int64_t>{5, 7});
  CHECK(d.channels == 1);
  CHECK(d.scale.mean == std::vector<double>{0.5});
  CHECK(d.scale.deviation == std::vector<double>{2});
  CHECK(d.flip);
  CHECK(d.seed == 9);
}

TEST_CASE("impossible images are refused") {
  const data_table t;
  CHECK_THAT(t.refusal("kind = \"images\"\ntrain = \"DIR/t\""),
             StartsWith("w.toml:2: data.d.train: ") && Contains("is a file"));
  CHECK_THAT(t.refusal("kind = \"images\"\ntrain = \"DIR/none\""),
             StartsWith("w.toml:2: data.d.train: no such folder"));
  for (const char* wrong : {"size = 5", "size = [5]", "size = [5, 0]", "size = [1, 5, 7]", "channels = 4", "mean = []",
                            "deviation = [0.0]", "mean = [\"a\"]", "validation_share = 1", "flip = 1"})
    CHECK_THAT(t.refusal(images + wrong), StartsWith("w.toml:3: data.d."));
}

TEST_CASE("CIFAR is a folder, a file or several") {
  const data_table t;
  CHECK(t.as<cifar_files>(cifar + "train = \"DIR\"").train.size() == 1);
  const auto d = t.as<cifar_files>(cifar + "train = [\"DIR/t\", \"DIR/v\"]\nvalidation = \"DIR/v\"\nclasses = 100");
  CHECK(d.train.at(1) == t.folder.path() / "v");
  CHECK(d.validation.size() == 1);
  CHECK(d.classes == 100);
  CHECK_THAT(t.refusal(cifar + "train = [\"DIR/t\", \"DIR/none\"]"),
             StartsWith("w.toml:2: data.d.train: no such file"));
  CHECK_THAT(t.refusal(cifar + "train = []"), StartsWith("w.toml:2: data.d.train: "));
}

}  // namespace hydra::apps
