#include "apps/workload/forbidden_changes.hpp"

#include "apps/workload/parse.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

std::vector<forbidden_change> changes(const std::string& recorded, const workload& w) {
  const value_table was = parse_toml(recorded, "run/workload.toml");
  const place top{std::make_shared<std::string>("run/workload.toml"), 1};
  return forbidden_changes({was, top, ""}, {w.as_run, w.file, ""});
}

/// The message when the run of the text `was` is resumed with the text `is`; empty if it may continue.
std::string changed(const std::string& was, const std::string& is, const std::vector<key_override>& set = {}) {
  const std::vector<forbidden_change> all =
      changes(parse_workload(was, "w.toml").expanded, parse_workload(is, "w.toml", set));
  try {
    refuse_changes(all);
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().code == fault_code::bad_input ? e.what_happened().text : "wrong code";
  }
}

/// The example with a part replaced, resuming the example.
std::string changed_by(const std::string& part, const std::string& by) { return changed(example, bent(part, by)); }

const std::string other_data = "[data.other]\nkind = \"synthetic-language\"\n";
const std::string rate = "{ learning_rate = 1e-3 }";
const std::string models = example.substr(example.find("[[model]]"));

}  // namespace

TEST_CASE("the same workload is resumed, whatever its spelling and order") {
  CHECK(changed(example, example) == "");
  CHECK(changed_by("learning_rate = 1e-3", "learning_rate = 0.001") == "");
  CHECK(changed_by("batch_size = 4\nsteps = 3", "steps = 3\nbatch_size = 4") == "");
  CHECK(changed_by(rate, "{ learning_rate = 1, weight_decay = 1 }") != "");
}

TEST_CASE(
    "devices, host, policy, cuts, length, terms of the schedule, checkpoint, ablation, tensorboard and output may "
    "change") {
  CHECK(changed_by("memory = \"24MiB\"", "memory = \"9MiB\"\nspeed = 0.5\nlink = \"1GiB/s\"\ncount = 3") == "");
  CHECK(changed_by("[data.", "[[device]]\nkind = \"cpu\"\nmemory = 7\n\n[data.") == "");
  CHECK(changed_by("seed = 7", "seed = 7\n[host]\nmemory = \"1GiB\"\noptimizer_threads = 2") == "");
  CHECK(changed_by("seed = 7", "seed = 7\npolicy = \"fifo\"\noutput = \"there\"\noptimizer_on = \"auto\"") == "");
  CHECK(changed_by("seed = 7", "seed = 7\ncheckpoint = { every_steps = 1, every_minutes = 0, keep = 9 }") == "");
  CHECK(changed_by("steps = 3", "steps = 3\ncuts = [0, 2]") == "");
  const std::string halves = bent("steps = 3", "steps = 3\nmicro_batches = 2");
  CHECK(changed(halves, halves + "parallel = { waves = 2 }\n") == "");
  CHECK(changed_by("steps = 3", "steps = 3\npriority = 2\ndeadline = \"9s\"\narrival = \"1s\"") == "");
  CHECK(changed(example, example + "[ablation]\ncache = false\n") == "");
  CHECK(changed_by("steps = 3", "steps = 4") == "");
  CHECK(changed_by("steps = 3", "epochs = 3") == "");
}

TEST_CASE("replicas decide results and may not change") {
  const std::string halves = bent("steps = 3", "steps = 3\nmicro_batches = 2");
  CHECK_THAT(changed(halves, halves + "parallel = { replicas = 2 }\n"),
             Contains("model.gpt.parallel.replicas: another value") && Contains("(was 1 by default, is 2)"));
}

TEST_CASE("a key at its default and one written with that value are the same") {
  CHECK(changed_by("steps = 3", "steps = 3\nmicro_batches = 1\non_nan = \"stop\"\nseed = 7\nvalidate = {}") == "");
  CHECK(changed_by("steps = 3", "steps = 3\nschedule = { kind = \"constant\", warmup = 0 }") == "");
  CHECK(changed_by(rate,
                   "{ kind = \"adamw\", learning_rate = 1e-3, weight_decay = 0.01, betas = [0.9, 0.999], eps = 1e-8,"
                   " clip_norm = 0 }") == "");
  CHECK(changed_by("heads = 2", "heads = 2, dropout = 0, tied = true") == "");
  CHECK(changed_by("kind = \"synthetic-language\"",
                   "kind = \"synthetic-language\"\nsymbols = 32\norder = 2\nseed = 0\nshuffle = true") == "");
  CHECK(changed(bent("[run]\nseed = 7\n", ""), bent("[run]\nseed = 7\n", "[run]\nseed = 0\n")) == "");
}

TEST_CASE("a change of the run is refused where it is written, with both values") {
  CHECK_THAT(changed_by("seed = 7", "seed = 8"),
             StartsWith("w.toml:2: run.seed: another value than in run/workload.toml:2 (was 7, is 8)") &&
                 Contains("only device (but for kind, threads, precision, gradients and tf32), host, policy, plugins, "
                          "optimizer_on, cuts, waves, steps, epochs, priority, deadline, arrival, checkpoint, "
                          "ablation, tensorboard, currency, grams_per_kwh, objective and output may change"));
  CHECK_THAT(changed_by("seed = 7\n", ""), StartsWith("w.toml:1: run.seed: ") && Contains("(was 7, is 0 by default)"));
  CHECK_THAT(changed_by("seed = 7", "seed = 7\nname = \"n\""),
             StartsWith("w.toml:3: run.name: ") && Contains("(was \"w\", is \"n\")"));
}

TEST_CASE("a change of the data is refused") {
  const std::string kind = "kind = \"synthetic-language\"";
  CHECK_THAT(changed_by(kind, kind + "\ntokens = 1000"),
             StartsWith("w.toml:10: data.language.tokens: ") && Contains("(was 200000 by default, is 1000)"));
  CHECK_THAT(changed_by(kind, kind + "\nshuffle = false"), StartsWith("w.toml:10: data.language.shuffle: "));
  CHECK_THAT(changed_by(kind, "kind = \"synthetic-classes\""), StartsWith("w.toml:9: data.language.kind: "));
  CHECK_THAT(changed(example, example + other_data), StartsWith("w.toml:18: data.other: new "));
  CHECK_THAT(changed(example + other_data, example), StartsWith("w.toml:8: data.other: missing "));
}

TEST_CASE("who gives the new path of a folder that a model began from reads of --base") {
  const auto said_of = [](const std::string& key) {
    try {
      refuse_changes({{{std::make_shared<std::string>("w.toml"), 3}, key, "another value"}});
      return std::string{};
    } catch (const fault_error& e) {
      return e.what_happened().text;
    }
  };
  CHECK_THAT(said_of("model.gpt.chain.from"), StartsWith("w.toml:3: model.gpt.chain.from: another value; where ") &&
                                                  Contains("leave chain.from as it was and give --base FOLDER"));
  CHECK_THAT(said_of("model.gpt.adapter.from"), !Contains("--base"));
}

TEST_CASE("every change of a model is refused, by the model's name") {
  const auto more = [](const std::string& line) { return changed_by("steps = 3", "steps = 3\n" + line); };
  CHECK_THAT(changed_by("layers = 2", "layers = 3"), StartsWith("w.toml:13: model.gpt.chain.layers: "));
  CHECK_THAT(changed_by("heads = 2", "heads = 2, tied = false"), StartsWith("w.toml:13: model.gpt.chain.tied: "));
  CHECK_THAT(changed_by("batch_size = 4", "batch_size = 2"), StartsWith("w.toml:15: model.gpt.batch_size: "));
  CHECK_THAT(more("micro_batches = 2"), StartsWith("w.toml:17: model.gpt.micro_batches: "));
  CHECK_THAT(more("loss_chunk = 8"),
             StartsWith("w.toml:17: model.gpt.loss_chunk: ") && Contains("(was 0 by default, is 8)"));
  CHECK_THAT(more("base = \"nf4\""), StartsWith("w.toml:17: model.gpt.base: "));
  CHECK_THAT(more("seed = 8"), StartsWith("w.toml:17: model.gpt.seed: ") && Contains("(was 7, is 8)"));
  CHECK_THAT(more("validate = { every_steps = 1 }"), StartsWith("w.toml:17: model.gpt.validate.every_steps: "));
  CHECK_THAT(more("schedule = { kind = \"linear\" }"), StartsWith("w.toml:17: model.gpt.schedule.kind: "));
  CHECK_THAT(more("loss = \"mse\""), StartsWith("w.toml:17: model.gpt.loss: ") && Contains("the family's by default"));
  CHECK_THAT(more("on_nan = \"ignore\""), StartsWith("w.toml:17: model.gpt.on_nan: ") && Contains("\"ignore\""));
  CHECK_THAT(changed(bent("data = \"language\"", "data = \"language\"") + other_data,
                     bent("data = \"language\"", "data = \"other\"") + other_data),
             StartsWith("w.toml:14: model.gpt.data: "));
}

TEST_CASE("a change of the optimizer is refused, its kind first") {
  CHECK_THAT(changed_by("1e-3", "2e-3"),
             StartsWith("w.toml:17: model.gpt.optimizer.learning_rate: ") && Contains("(was 1e-3, is 2e-3)"));
  CHECK_THAT(changed_by(rate, "{ kind = \"sgd\", learning_rate = 1e-3 }"),
             StartsWith("w.toml:17: model.gpt.optimizer.kind: ") && Contains("(was adamw by default, is \"sgd\")"));
  CHECK_THAT(changed_by(rate, "{ learning_rate = 1e-3, betas = [0.9, 0.99] }"),
             StartsWith("w.toml:17: model.gpt.optimizer.betas: "));
  CHECK_THAT(changed(bent(rate, "{ kind = \"sgd\", learning_rate = 1, momentum = 0.9 }"),
                     bent(rate, "{ kind = \"sgd\", learning_rate = 1 }")),
             StartsWith("w.toml:17: model.gpt.optimizer.momentum: ") && Contains("(was 0.9, is 0 by default)"));
  CHECK_THAT(changed_by(rate, "{ learning_rate = 1e-3, decay = \"matrices\" }"),
             StartsWith("w.toml:17: model.gpt.optimizer.decay: ") && Contains("(was all by default, is \"matrices\")"));
  CHECK(changed_by(rate, "{ learning_rate = 1e-3, decay = \"all\" }") == "");
}

TEST_CASE("a change of a group of parameters or of a schedule's share is refused") {
  const auto grouped = [](const std::string& keys) {
    return bent(rate, "{ learning_rate = 1e-3, groups = [{ parameters = [\"*wte*\"], " + keys + " }] }");
  };
  CHECK(changed(grouped("weight_decay = 0"), grouped("weight_decay = 0.0")) == "");
  CHECK_THAT(changed(grouped("weight_decay = 0"), grouped("weight_decay = 0.1")),
             StartsWith("w.toml:17: model.gpt.optimizer.groups.1.weight_decay: ") && Contains("(was 0, is 0.1)"));
  CHECK_THAT(changed(grouped("weight_decay = 0"), grouped("learning_rate = 1")), Contains("groups.1.learning_rate"));
  CHECK_THAT(changed(bent(rate, "{ learning_rate = 1e-3 }"), grouped("weight_decay = 0")),
             StartsWith("w.toml:17: model.gpt.optimizer.groups.1: new"));
  const auto scheduled = [](const std::string& keys) {
    return bent("steps = 3", "steps = 3\nschedule = { " + keys + " }");
  };
  CHECK_THAT(changed(scheduled("warmup_ratio = 0.1"), scheduled("warmup_ratio = 0.2")),
             Contains("schedule.warmup_ratio"));
  CHECK_THAT(changed(scheduled("kind = \"wsd\""), scheduled("kind = \"wsd\", decay_ratio = 0.2")),
             Contains("schedule.decay_ratio") && Contains("(was 0.1 by default, is 0.2)"));
}

TEST_CASE("models are matched by name: one more or less is a change, another order is none") {
  const std::string head = example.substr(0, example.find("[[model]]"));
  std::string second = models;
  second.replace(second.find("gpt\""), 4, "other\"");
  CHECK(changed(head + models + second, head + second + models) == "");
  CHECK_THAT(changed(example, example + second),
             StartsWith("w.toml:18: model.other: new (was absent from run/workload.toml"));
  CHECK_THAT(changed(example + second, example),
             StartsWith("w.toml:11: model.other: missing (was at run/workload.toml:"));
}

TEST_CASE("grids are compared member by member; the first change is named and the others are counted") {
  const std::string grid = "[model.grid]\nlearning_rate = [1e-3, 3e-4]\n";
  CHECK(changed(example + grid, example + grid) == "");
  CHECK_THAT(changed(example + grid, bent("batch_size = 4", "batch_size = 5") + grid),
             StartsWith("w.toml:15: model.gpt-1e-3.batch_size: ") && Contains("; and 1 more such change"));
}

TEST_CASE("a change from the command line is named by its option") {
  CHECK_THAT(changed(example, example, {parse_override("model.batch_size=5")}),
             StartsWith("--set model.batch_size=5: model.gpt.batch_size: ") && Contains("(was 4, is 5)"));
  CHECK(changed(example, example, {parse_override("run.checkpoint.every_steps=5")}) == "");
}

TEST_CASE("what this program does not know in the older workload is a change, not a crash") {
  const auto against = [](const std::string& recorded) {
    return changes(recorded, parse_workload(example, "w.toml")).size();
  };
  const std::string expanded = parse_workload(example, "w.toml").expanded;
  CHECK(against(expanded) == 0);
  CHECK(against("future = 1\n" + expanded) == 1);
  CHECK(against("run = 3\ndata = 4\nmodel = [5]\n") > 3);
  CHECK(against("") > 3);
}

}  // namespace hydra::apps
