// Words of other training programs: what is said of each exists, and is said.

#include "apps/workload/other_tools.hpp"
#include "apps/workload/check_leaf.hpp"
#include "apps/workload/schema.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// All rules of a key, which several variants of its table may have; of "data.NAME.kind" for any NAME.
std::vector<key_rule> rules_of(const table_rules& table, const std::string& path) {
  const auto dot = path.find('.');
  std::vector<key_rule> found;
  const auto add = [&](const std::vector<key_rule>& keys) {
    for (const key_rule& rule : keys)
      if (rule.name == path.substr(0, dot)) found.push_back(rule);
  };
  add(table.keys);
  for (const table_variant& v : table.variants) add(v.keys);
  if (dot == std::string::npos) return found;
  std::vector<key_rule> deeper;
  for (const key_rule& rule : found) {
    const std::string rest = path.substr(rule.kind == value_kind::named_tables ? path.find('.', dot + 1) + 1 : dot + 1);
    for (const table_rules& inner : rule.inner) std::ranges::copy(rules_of(inner, rest), std::back_inserter(deeper));
  }
  return deeper;
}

std::vector<key_rule> rules_with_choices(const other_value& v) {
  std::vector<key_rule> rules = rules_of(workload_rules(), std::string{v.key});
  std::erase_if(rules, [](const key_rule& rule) { return rule.choices.empty(); });
  return rules;
}

std::string said_of(const std::string& set) try {
  parse_workload(example, "w.toml", {parse_override(set)});
  return "";
} catch (const fault_error& e) {
  return e.what_happened().text;
}

std::string said_of(const other_value& v, const key_rule& rule) try {
  const value written = text_value(std::string{v.value}, {std::make_shared<std::string>("w.toml"), 1});
  std::string key{v.key};
  if (key.starts_with("data.NAME.")) key.replace(5, 4, "mine");
  check_leaf({written, rule, key});
  return "";
} catch (const fault_error& e) {
  return e.what_happened().text;
}

}  // namespace

TEST_CASE("every key that a word of another tool is answered with exists") {
  for (const other_word& w : other_words()) {
    INFO(w.word);
    CHECK((w.key.empty() || !rules_of(workload_rules(), std::string{w.key}).empty()));
    CHECK((!w.key.empty() || !w.note.empty()));
  }
}

TEST_CASE("every word of another tool is answered with its key and note, or with the table that has this key here") {
  for (const other_word& w : other_words()) {
    INFO(w.word);
    CHECK(find_other_word(w.word) == &w);
    const std::string said = said_of(std::string{w.word} + "=1");
    CHECK_THAT(said, Contains("unknown key; " + describe(w)) || Contains("unknown key; here it is "));
    CHECK_THAT(said, !Contains("did you mean"));
  }
}

TEST_CASE("every value of another tool is refused with one that its key takes, or with what to do instead") {
  for (const other_value& v : other_values()) {
    INFO(v.key << " " << v.value);
    const std::vector<key_rule> rules = rules_with_choices(v);
    REQUIRE(!rules.empty());
    const auto takes = [&](std::string_view name) {
      return std::ranges::any_of(rules, [&](const key_rule& r) { return std::ranges::count(r.choices, name) > 0; });
    };
    CHECK(!takes(v.value));
    CHECK((v.here.empty() ? !v.note.empty() : takes(v.here)));
    for (const key_rule& rule : rules)
      CHECK_THAT(said_of(v, rule), Contains("unknown value \"" + std::string{v.value} + "\"; " + describe(v)));
  }
}

TEST_CASE("a word is known in any case, with dashes instead of underscores, and as an option") {
  REQUIRE(find_other_word("lora_r"));
  for (const char* written : {"--lora-r", "LORA_R", "-lora_r"})
    CHECK(find_other_word(written) == find_other_word("lora_r"));
  CHECK(!find_other_word("lora_rr"));
  CHECK(!find_other_word(""));
  CHECK(find_other_value("device.precision", "torch.bfloat16") == find_other_value("device.precision", "bfloat16"));
  CHECK(!find_other_value("device.kind", "bfloat16"));
  REQUIRE(find_other_value("device.kind", "cuda:0"));
  CHECK(find_other_value("device.kind", "cuda:0") == find_other_value("device.kind", "CUDA:12"));
  for (const char* other : {"cuda:", "cuda:x", "cpu:0"}) CHECK(!find_other_value("device.kind", other));
}

TEST_CASE("a word that means something else here is answered with the difference, in every table") {
  const auto in_model = [](const std::string& key) { return said_of("model." + key + "=4"); };
  CHECK_THAT(in_model("gradient_accumulation_steps"),
             Contains("model.micro_batches") && Contains("batch_size = 16, micro_batches = 4"));
  CHECK_THAT(in_model("eval_steps"), Contains("unknown key; here it is model.validate.every_steps"));
  CHECK_THAT(in_model("save_steps"), Contains("unknown key; here it is run.checkpoint.every_steps"));
  CHECK_THAT(said_of("run.eval_steps=4"), Contains("here it is model.validate.every_steps"));
  CHECK_THAT(in_model("packing"), Contains("here it is data.NAME.packing"));
  CHECK_THAT(said_of("model.adapter.r=4"), Contains("here it is model.adapter.rank"));
  CHECK_THAT(said_of("model.lora.r=4"), StartsWith("--set model.lora.r=4: ") && Contains("here it is model.adapter"));
  CHECK_THAT(said_of("model.grid.lr=[4]"), Contains("here it is model.optimizer.learning_rate"));
  CHECK_THAT(said_of("device.bf16=true"), Contains("here it is device.precision"));
  CHECK_THAT(said_of("data.language.max_length=9"), Contains("here it is model.chain.context"));
  CHECK_THAT(said_of("data.language.split=train"), Contains("validation_share = 0.05 of train"));
  CHECK_THAT(said_of("data.language.subset=en"), Contains("here it is data.NAME.train: the files of this subset"));
  CHECK_THAT(said_of("model.report_to=wandb"), Contains("read metrics.jsonl"));
}

TEST_CASE("a value that means something else here is not taken for a near one") {
  CHECK_THAT(said_of("model.optimizer.kind=adamw_torch"), Contains("here it is \"adamw\""));
  CHECK_THAT(said_of("model.optimizer.kind=adam"), Contains("here it is \"adamw\": its weight decay is not"));
  CHECK_THAT(said_of("device.precision=fp16"), Contains("; \"bf16\" has the range of fp32") && !Contains("fp32\"?"));
  CHECK_THAT(said_of("device.kind=cuda:1"), Contains("here it is \"cuda\": with index = n"));
  CHECK_THAT(said_of("model.schedule={ kind = \"constant_with_warmup\" }"), Contains("here it is \"constant\""));
}

TEST_CASE("a text where a list of texts is expected is refused with this list") {
  CHECK_THAT(said_of("model.adapter={ rank = 8, targets = \"all-linear\" }"),
             Contains("model.adapter.targets: the text \"all-linear\" is given, "
                      "expected a list of texts: [\"all-linear\"]"));
}

}  // namespace hydra::apps
