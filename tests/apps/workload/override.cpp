#include "apps/workload/override.hpp"

#include "apps/workload/device_kinds.hpp"
#include "apps/workload/workload.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>

namespace hydra::apps {

using namespace literals;
using Catch::Contains;
using Catch::StartsWith;

namespace {

workload with(const std::vector<std::string>& sets, const std::string& text = example) {
  std::vector<key_override> overrides;
  for (const std::string& set : sets) overrides.push_back(parse_override(set));
  return parse_workload(text, "w.toml", overrides);
}

/// The message about the workload with overrides; empty if it is accepted.
std::string set_refusal(const std::vector<std::string>& sets, const std::string& text = example) {
  try {
    with(sets, text);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

const std::string second_model = R"(
[[model]]
name = "other"
chain = { family = "gpt2", layers = 1, width = 8, heads = 2, context = 4 }
data = "language"
batch_size = 2
epochs = 1
optimizer = { learning_rate = 1e-2 }
)";

const std::string two_models = example + second_model;
const std::string grid = "[model.grid]\nbatch_size = [4, 8]\nlearning_rate = [1e-3, 3e-4]\n";

std::vector<std::string> names_of(const workload& w) {
  std::vector<std::string> names;
  for (const model_entry& m : w.models) names.push_back(m.description.name);
  return names;
}

std::vector<std::uint32_t> steps_of(const workload& w) {
  std::vector<std::uint32_t> steps;
  for (const model_entry& m : w.models) steps.push_back(m.description.steps);
  return steps;
}

}  // namespace

TEST_CASE("an override reaches a key that the file sets, one that it does not, and one in a table of its own") {
  const workload w = with({"run.seed=3", "run.policy=fifo", "host.optimizer_threads=2", "data.language.tokens=1000"});
  CHECK(w.options.seed == 3);
  CHECK(w.policy.which == "fifo");
  CHECK(w.options.optimizer_threads == 2);
  CHECK(std::get<synthetic_language>(w.data.at("language").description.what).tokens == 1000);
}

TEST_CASE("values of overrides are TOML, bare words stand for themselves") {
  CHECK(parse_override("a=3").is.as<std::int64_t>());
  CHECK(parse_override("a=1e-3").is.as<double>());
  CHECK(parse_override("a=1e-3").is.written == "1e-3");
  CHECK(parse_override("a=true").is.as<bool>());
  CHECK(parse_override("a=[0, 2]").is.as<value_list>());
  CHECK(parse_override("a={ b = 1 }").is.as<value_table>());
  CHECK(*parse_override("a=\"two words\"").is.as<std::string>() == "two words");
  for (const char* word : {"12MiB", "1GiB/s", "sharded-lrtf", "corpus/train.txt", "60%"})
    CHECK(*parse_override(std::string{"a="} + word).is.as<std::string>() == word);
  CHECK(parse_override(" run.seed = 3 ").path == "run.seed");
}

TEST_CASE("what a run could not write down as UTF-8 is refused with its option and its key") {
  CHECK_THAT(set_refusal({"run.name=x\xff"}),
             StartsWith("--set run.name=x\xff: run.name: ") && Contains("byte 1 is 0xff"));
  CHECK_THAT(set_refusal({"model.name=\xc3\x28"}), Contains(": model.name: ") && Contains("byte 0 is 0xc3"));
  CHECK_THAT(set_refusal({"data.new\xff={ kind = \"synthetic-language\" }"}), Contains(": data.new\xff: "));
  CHECK(set_refusal({"run.name=gr\xc3\xb6\xc3\x9f" "er"}) == "");
}

TEST_CASE("a file whose name is not UTF-8 needs another name for its run") {
  CHECK_THROWS_WITH(parse_workload(example, "w\xff.toml"),
                    StartsWith("w\xff.toml:1: run.name: \"w\\xff\" is not UTF-8"));
  CHECK(parse_workload(example, "w\xff.toml", {parse_override("run.name=w")}).options.name == "w");
}

TEST_CASE("a key of devices holds for all of them") {
  const workload w = with({"device.memory=12MiB"}, example + "[[device]]\nkind = \"cpu\"\nmemory = 1\n");
  REQUIRE(w.devices.size() == 2);
  for (const device_entry& d : w.devices) CHECK(read_cpu_device(*d.keys.as<value_table>()).memory == 12_MiB);
}

TEST_CASE("a key of models holds for all of them, with a name for one") {
  CHECK(steps_of(with({"model.steps=5"}, two_models)) == std::vector<std::uint32_t>{5, 5});
  CHECK(steps_of(with({"model.gpt.steps=5"}, two_models)) == std::vector<std::uint32_t>{5, 0});
  const workload w = with({"model.optimizer.learning_rate=2", "model.other.optimizer.learning_rate=3"}, two_models);
  CHECK(w.models[0].description.optimizer.learning_rate == 2);
  CHECK(w.models[1].description.optimizer.learning_rate == 3);
}

TEST_CASE("of several overrides of a key the last one holds") {
  CHECK(with({"run.seed=3", "run.seed=4"}).options.seed == 4);
  CHECK(steps_of(with({"model.gpt.steps=5", "model.steps=6"})) == std::vector<std::uint32_t>{6});
}

TEST_CASE("to set steps is to choose them over epochs, and the other way round") {
  const workload w = with({"model.other.steps=7", "model.gpt.epochs=2"}, two_models);
  CHECK(w.models[0].description.epochs == 2);
  CHECK(w.models[0].description.steps == 0);
  CHECK(w.models[1].description.steps == 7);
}

TEST_CASE("the name of a grid as written means all its members, a member's name that member") {
  CHECK(steps_of(with({"model.gpt.steps=5"}, example + grid)) == std::vector<std::uint32_t>{5, 5, 5, 5});
  CHECK(steps_of(with({"model.gpt-8-1e-3.steps=5"}, example + grid)) == std::vector<std::uint32_t>{3, 3, 5, 3});
  const std::string braces = bent("\"gpt\"", "\"b{batch_size}-{learning_rate}\"") + grid;
  CHECK(steps_of(with({"model.b4-3e-4.steps=5"}, braces)) == std::vector<std::uint32_t>{3, 5, 3, 3});
  CHECK(steps_of(with({"model.b{batch_size}-{learning_rate}.steps=5"}, braces)) ==
        std::vector<std::uint32_t>{5, 5, 5, 5});
}

TEST_CASE("names with dots are found, the longest first") {
  const std::string text = bent("\"gpt\"", "\"lr-0.1\"") + bent("\"gpt\"", "\"lr-0\"").substr(example.find("[[model"));
  CHECK(steps_of(with({"model.lr-0.1.steps=5"}, text)) == std::vector<std::uint32_t>{5, 3});
  const workload w = with({"data.a.b.tokens=1000"}, bent("[data.language]",
                                                         "[data.\"a.b\"]\nkind = "
                                                         "\"synthetic-language\"\n[data.language]"));
  CHECK(std::get<synthetic_language>(w.data.at("a.b").description.what).tokens == 1000);
}

TEST_CASE("a grid can be changed and made from the command line") {
  CHECK(with({"model.grid.batch_size=[2]"}, example + grid).models.size() == 2);
  CHECK(with({"model.grid.optimizer.learning_rate=[1, 2, 3]"}).models.size() == 3);
}

TEST_CASE("a key of a grid is replaced however it is spelled, and keeps its spelling and position in the names") {
  const std::string text = bent("\"gpt\"", "\"lr{learning_rate}\"") + "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n";
  const std::string quoted = example + "[model.grid]\n\"optimizer.learning_rate\" = [1, 2]\nbatch_size = [4, 8]\n";
  for (const char* set : {"model.grid.optimizer.learning_rate=[2, 3]", "model.grid.learning_rate=[2, 3]"}) {
    CHECK(names_of(with({set}, text)) == std::vector<std::string>{"lr2", "lr3"});
    CHECK(names_of(with({set}, quoted)) == std::vector<std::string>{"gpt-2-4", "gpt-2-8", "gpt-3-4", "gpt-3-8"});
  }
  CHECK_THAT(set_refusal({"model.grid.rate=[1]"}, text), StartsWith("--set model.grid.rate=[1]: model.grid.rate: "));
  CHECK(with({"model.grid.optimizer={ weight_decay = [0, 1] }"}, example + grid).models.size() == 8);
}

TEST_CASE("the refusal of a key that a grid varies gives the key as the grid writes it, with the value") {
  for (const char* key : {"model.optimizer.learning_rate", "model.learning_rate"})
    CHECK_THAT(set_refusal({key + std::string{"=5e-4"}}, example + grid),
               Contains("allowed is model.grid.learning_rate=[5e-4], or the name of one member"));
  CHECK_THAT(set_refusal({"model.optimizer={}"}, example + grid), Contains("model.grid.learning_rate=[...]"));
}

TEST_CASE("an override of a key that a grid varies is not ignored") {
  for (const char* set : {"model.batch_size=2", "model.gpt.optimizer.learning_rate=1", "model.optimizer={}",
                          "model.learning_rate=1"})
    CHECK_THAT(set_refusal({set}, example + grid), StartsWith(std::string{"--set "} + set + ": model.") &&
                                                       Contains("the grid at w.toml:") && Contains("model.grid."));
}

TEST_CASE("what is not an override is refused with what is allowed") {
  for (const char* garbage : {"", "run.seed", "run seed 3"})
    CHECK_THAT(set_refusal({garbage}), StartsWith("--set ") && Contains("no \"=\"") && Contains("key=value"));
  for (const char* empty : {"=3", ".=3", "run.=3", ".seed=3", "run..seed=3", "  =3"})
    CHECK_THAT(set_refusal({empty}), StartsWith("--set ") && Contains("is empty") && Contains("key=value"));
  for (const char* no_value : {"run.seed=", "run.seed=[1", "run.name=two words", "run.name=\"open", "run.seed={ a = }",
                               "run.seed=3\nrun.name=4", "run.name=a=b", "run.name=\xFF\xFE x"})
    CHECK_THAT(set_refusal({no_value}), StartsWith("--set ") && Contains("is not a value; allowed are TOML values"));
}

TEST_CASE("an unknown path of an override is refused with the nearest key") {
  CHECK_THAT(set_refusal({"runn.seed=3"}), StartsWith("--set runn.seed=3: runn: unknown") && Contains("mean \"run\""));
  CHECK_THAT(set_refusal({"run.sed=3"}), StartsWith("--set run.sed=3: run.sed: ") && Contains("mean \"seed\""));
  CHECK_THAT(set_refusal({"device.memori=1"}), StartsWith("--set device.memori=1: ") && Contains("mean \"memory\""));
  CHECK_THAT(set_refusal({"data.language.token=1"}), StartsWith("--set ") && Contains("mean \"tokens\""));
  CHECK_THAT(set_refusal({"data.langage.tokens=1"}), StartsWith("--set ") && Contains("mean \"language\""));
  CHECK_THAT(set_refusal({"model.stepz=1"}), StartsWith("--set ") && Contains("mean \"steps\""));
  CHECK_THAT(set_refusal({"model.gpt.stepz=1"}), StartsWith("--set ") && Contains("mean \"steps\""));
  CHECK_THAT(set_refusal({"model.optimizer.rate=1"}), StartsWith("--set ") && Contains("learning_rate"));
}

TEST_CASE("a key without the tables that it is in is refused with its whole path") {
  for (const char* set : {"learning_rate=1", "model.learning_rate=1"})
    CHECK_THAT(set_refusal({set}), Contains("unknown key; here it is model.optimizer.learning_rate"));
  CHECK_THAT(set_refusal({"family=gpt2"}), Contains("unknown key; here it is model.chain.family"));
  CHECK_THAT(set_refusal({"train=a.txt"}), Contains("unknown key; here it is data.NAME.train"));
}

TEST_CASE("an unknown model of an override is refused with the nearest name") {
  CHECK_THAT(set_refusal({"model.gtp.steps=1"}), StartsWith("--set model.gtp.steps=1: ") && Contains("mean \"gpt\""));
  CHECK_THAT(set_refusal({"model.gtp-4-1e-3.steps=1"}, example + grid),
             StartsWith("--set ") && Contains("mean \"gpt-4-1e-3\""));
  CHECK_THAT(set_refusal({"model.gpt-4-1e-2.steps=1"}, example + grid),
             StartsWith("--set ") && Contains("(known: gpt-4-1e-3, gpt-4-3e-4, ") && !Contains("mean"));
  CHECK_THAT(set_refusal({"model.optimiser.learning_rate=1"}), StartsWith("--set ") && Contains("mean \"optimizer\""));
}

TEST_CASE("a key inside something that is not a table is refused") {
  CHECK_THAT(set_refusal({"run.seed.low=3"}),
             StartsWith("--set run.seed.low=3: ") && Contains("\"run.seed\" is 7 (w.toml:2)"));
  CHECK_THAT(set_refusal({"model.steps.most=3"}), StartsWith("--set ") && Contains("\"steps\" is 3"));
  CHECK_THAT(set_refusal({"run.name.first=a"}), StartsWith("--set ") && Contains("a table is given"));
  CHECK_THAT(set_refusal({"device.memory=1"}, example.substr(example.find("[data"))),
             StartsWith("--set ") && Contains("no [[device]]"));
}

TEST_CASE("a wrong value of an override is refused where it was written") {
  CHECK_THAT(set_refusal({"model.steps=many"}), StartsWith("--set model.steps=many: model.steps: the text \"many\"") &&
                                                    Contains("an integer of at least 1"));
  CHECK_THAT(set_refusal({"model.micro_batches=3"}),
             StartsWith("--set model.micro_batches=3: model.micro_batches: 3 "));
  CHECK_THAT(set_refusal({"run.policy=fifa"}), StartsWith("--set run.policy=fifa: ") && Contains("\"fifo\""));
  CHECK_THAT(set_refusal({"model.chain={ family = \"gtp2\" }"}), StartsWith("--set ") && Contains("mean \"gpt2\""));
  CHECK_THAT(set_refusal({"device=3"}), StartsWith("--set device=3: device: 3 is given"));
}

}  // namespace hydra::apps
