#include "apps/workload/workload.hpp"

#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace hydra::apps {

using namespace literals;

TEST_CASE("a workload without optional keys gets the documented defaults") {
  const workload w = parse_workload(bent("[run]\nseed = 7\n", ""), "folder/small.toml");
  CHECK(w.options.name == "small");
  CHECK(w.options.output == "runs/small");
  CHECK(w.options.seed == 0);
  CHECK(w.policy.which == "stay-pace");
  CHECK(w.options.host_memory == 0_B);
  CHECK(w.options.optimizer_threads == 0);
  CHECK(w.options.checkpoint.every_steps == 0);
  CHECK(w.options.checkpoint.every_minutes == 10);
  CHECK(w.options.checkpoint.keep == 2);
  CHECK(w.options.ablation.double_buffer);
  CHECK(w.options.ablation.cache);
  CHECK_FALSE(w.options.ablation.copy_back_clean);
  CHECK(w.options.ablation.sharp);
  CHECK(w.devices.at(0).count == 1);
  CHECK(w.data.at("language").description.shuffle);
}

TEST_CASE("a model without optional keys gets the documented defaults") {
  const model_description m = parse_workload(example, "w.toml").models.at(0).description;
  CHECK(m.micro_batches == 1);
  CHECK(m.epochs == 0);
  CHECK(m.optimizer.kind == update_kind::adamw);
  CHECK(m.optimizer.weight_decay == 0.01);
  CHECK(m.optimizer.beta1 == 0.9);
  CHECK(m.optimizer.beta2 == 0.999);
  CHECK(m.optimizer.eps == 1e-8);
  CHECK(m.optimizer.clip_norm == 0);
  CHECK(m.optimizer.schedule.kind == schedule_kind::constant);
  CHECK(std::holds_alternative<balanced_cut>(m.cuts));
  CHECK_FALSE(m.seed.has_value());
  CHECK(m.stop_on_nan);
  CHECK(m.priority == 1);
  CHECK_FALSE(m.deadline.has_value());
  CHECK(m.arrival == duration{});
}

TEST_CASE("every key of run, host and ablation reaches the session's options") {
  const workload w = parse_workload(bent("seed = 7\n", R"(name = "n"
seed = 9
policy = "fifo"
output = "elsewhere"
checkpoint = { every_steps = 5, every_minutes = 0.25, keep = 3 }
[host]
memory = "3GiB"
optimizer_threads = 3
[ablation]
double_buffer = false
cache = false
copy_back_clean = true
sharp = false
)"),
                                    "w.toml");
  CHECK(w.options.name == "n");
  CHECK(w.options.seed == 9);
  CHECK(w.policy.which == "fifo");
  CHECK(w.options.output == "elsewhere");
  CHECK(w.options.checkpoint.every_steps == 5);
  CHECK(w.options.checkpoint.every_minutes == 0.25);
  CHECK(w.options.checkpoint.keep == 3);
  CHECK(w.options.host_memory == 3_GiB);
  CHECK(w.options.optimizer_threads == 3);
  CHECK_FALSE(w.options.ablation.double_buffer);
  CHECK_FALSE(w.options.ablation.cache);
  CHECK(w.options.ablation.copy_back_clean);
  CHECK_FALSE(w.options.ablation.sharp);
}

TEST_CASE("every key of a model reaches its description") {
  const std::string keys = R"(micro_batches = 2
epochs = 5
loss = "cross-entropy"
cuts = [0, 2]
seed = 11
on_nan = "ignore"
priority = 2.5
deadline = "1.5s"
arrival = "20ms"
schedule = { kind = "cosine", warmup = 4, floor = 0.1 }
optimizer = { kind = "adamw", learning_rate = 3e-4, weight_decay = 0, betas = [0.8, 0.9], eps = 1e-6, clip_norm = 1 }
)";
  const std::string text = bent("steps = 3\noptimizer = { learning_rate = 1e-3 }\n", keys);
  const model_description m = parse_workload(text, "w.toml").models.at(0).description;
  CHECK(m.micro_batches == 2);
  CHECK(m.epochs == 5);
  CHECK(m.steps == 0);
  CHECK(std::get<cut_points>(m.cuts) == cut_points{0, 2});
  CHECK(m.seed == 11u);
  CHECK_FALSE(m.stop_on_nan);
  CHECK(m.priority == 2.5);
  CHECK(m.deadline == duration{std::chrono::milliseconds(1500)});
  CHECK(m.arrival == duration{std::chrono::milliseconds(20)});
  CHECK(m.optimizer.learning_rate == 3e-4);
  CHECK(m.optimizer.weight_decay == 0);
  CHECK(m.optimizer.beta1 == 0.8);
  CHECK(m.optimizer.beta2 == 0.9);
  CHECK(m.optimizer.eps == 1e-6);
  CHECK(m.optimizer.clip_norm == 1);
  CHECK(m.optimizer.schedule.kind == schedule_kind::cosine);
  CHECK(m.optimizer.schedule.warmup == 4);
  CHECK(m.optimizer.schedule.floor == 0.1);
}

TEST_CASE("sgd takes its own keys and decays nothing by default") {
  const std::string text =
      bent("{ learning_rate = 1e-3 }", R"({ kind = "sgd", learning_rate = 1, momentum = 0.9, nesterov = true })");
  const update_options o = parse_workload(text, "w.toml").models.at(0).description.optimizer;
  CHECK(o.kind == update_kind::sgd);
  CHECK(o.learning_rate == 1);
  CHECK(o.weight_decay == 0);
  CHECK(o.momentum == 0.9);
  CHECK(o.nesterov);
}

TEST_CASE("lion takes its own betas and decays nothing by default") {
  const std::string text = bent("{ learning_rate = 1e-3 }", R"({ kind = "lion", learning_rate = 1e-4 })");
  const update_options o = parse_workload(text, "w.toml").models.at(0).description.optimizer;
  CHECK(o.kind == update_kind::lion);
  CHECK(o.beta2 == 0.99);
  CHECK(o.weight_decay == 0);
}

TEST_CASE("every schedule takes its own keys") {
  const auto read = [](const std::string& keys) {
    return parse_workload(bent("steps = 3", "steps = 3\nschedule = " + keys), "w.toml")
        .models.at(0)
        .description.optimizer.schedule;
  };
  const auto wsd = read(R"({ kind = "wsd", warmup_ratio = 0.03, decay_ratio = 0.2, floor = 0.1 })");
  CHECK(wsd.kind == schedule_kind::wsd);
  CHECK(wsd.warmup_ratio == 0.03);
  CHECK(wsd.decay_ratio == 0.2);
  CHECK(wsd.floor == 0.1);
  const auto restarts = read(R"({ kind = "cosine-restarts", cycles = 3 })");
  CHECK(restarts.kind == schedule_kind::cosine_restarts);
  CHECK(restarts.cycles == 3);
  CHECK(read(R"({ kind = "inverse-sqrt", warmup = 5 })").kind == schedule_kind::inverse_sqrt);
  CHECK(read(R"({ kind = "linear" })").kind == schedule_kind::linear);
}

TEST_CASE("groups of parameters reach the optimizer in their order") {
  const std::string text = bent("{ learning_rate = 1e-3 }", R"({ learning_rate = 1e-3, decay = "matrices", groups = [
  { parameters = ["*.bias", "!*ln*"], learning_rate = 2e-3 }, { parameters = ["*wte*"], weight_decay = 0 }] })");
  const update_options o = parse_workload(text, "w.toml").models.at(0).description.optimizer;
  CHECK(o.decay == decay_scope::matrices);
  REQUIRE(o.groups.size() == 2);
  CHECK(o.groups[0].parameters.all() == std::vector<std::string>{"*.bias", "!*ln*"});
  CHECK(o.groups[0].learning_rate == 2e-3);
  CHECK_FALSE(o.groups[0].weight_decay);
  CHECK_FALSE(o.groups[1].learning_rate);
  CHECK(o.groups[1].weight_decay == 0.0);
}

TEST_CASE("the chain's options reach its family") {
  const chain_description c = parse_workload(example, "w.toml").models.at(0).description.chain;
  CHECK(c.family == "gpt2");
  CHECK(c.context == 4);
}

TEST_CASE("the loss of a model is its family's, or the one that is named") {
  const auto objective_of = [](const std::string& text) {
    const workload w = parse_workload(text, "w.toml");
    const chain_description& c = w.models.at(0).description.chain;
    return c.build(*open_data(w.data.at("language").description, c.context)).objective().name();
  };
  CHECK(objective_of(example) == "cross-entropy");
  CHECK(objective_of(bent("steps = 3", "steps = 3\nloss = \"mse\"")) == "mse");
}

TEST_CASE("images are classes with a shape") {
  const std::string text = bent("kind = \"synthetic-language\"", "kind = \"synthetic-classes\"\nshape = [3, 8, 6]");
  const workload w = parse_workload(text, "w.toml");
  const auto classes = std::get<synthetic_classes>(w.data.at("language").description.what);
  CHECK(classes.shape == std::vector<std::int64_t>{3, 8, 6});
}

TEST_CASE("sizes, rates and times are read with their units") {
  const std::string text = bent("memory = \"24MiB\"", R"(memory = "1.5 GiB"
count = 3
link = "2GiB/s"
latency = "5us"
threads = 2
speed = 0.25
precision = "bf16"
gradients = "bf16")");
  const workload w = parse_workload(text, "w.toml");
  const cpu_device d = read_cpu_device(*w.devices.at(0).keys.as<value_table>());
  CHECK(w.devices.at(0).count == 3);
  CHECK(d.memory == 1536_MiB);
  CHECK(d.link == 2_GiB_per_s);
  CHECK(d.latency == std::chrono::microseconds{5});
  CHECK(d.threads == 2);
  CHECK(d.speed == 0.25);
  CHECK(d.numbers == precision::bf16);
  CHECK(d.gradients == precision::bf16);
}

TEST_CASE("a size without a unit is a number of bytes") {
  const workload w = parse_workload(bent("\"24MiB\"", "4096"), "w.toml");
  CHECK(read_cpu_device(*w.devices.at(0).keys.as<value_table>()).memory == 4_KiB);
}

TEST_CASE("host memory may be a share of what is available") {
  const workload half = parse_workload(bent("seed = 7\n", "[host]\nmemory = \"50%\"\n"), "w.toml");
  const workload tenth = parse_workload(bent("seed = 7\n", "[host]\nmemory = \"10%\"\n"), "w.toml");
  const double ratio =
      static_cast<double>(half.options.host_memory.value()) / static_cast<double>(tenth.options.host_memory.value());
  CHECK(ratio == Approx(5).epsilon(0.2));  // other processes start and end between the two
}

TEST_CASE("keys of synthetic data reach their description") {
  const std::string text = bent(R"(kind = "synthetic-language")", R"(kind = "synthetic-language"
symbols = 5
order = 3
tokens = 1000
validation_tokens = 10
seed = 4
shuffle = false
[data.classes]
kind = "synthetic-classes"
features = 3
classes = 4
samples = 50
validation_samples = 6
noise = 0.5
seed = 8)");
  const workload w = parse_workload(text, "w.toml");
  const auto language = std::get<synthetic_language>(w.data.at("language").description.what);
  const auto classes = std::get<synthetic_classes>(w.data.at("classes").description.what);
  CHECK_FALSE(w.data.at("language").description.shuffle);
  CHECK(std::tuple{language.symbols, language.order, language.tokens, language.validation_tokens, language.seed} ==
        std::tuple{5, 3, 1000, 10, 4u});
  CHECK(std::tuple{classes.features, classes.classes, classes.samples, classes.validation_samples, classes.noise,
                   classes.seed} == std::tuple{3, 4, 50, 6, 0.5, 8u});
}

TEST_CASE("an override replaces what the file says, and is named when it is wrong") {
  const auto by = [](std::string text) {
    return std::vector<key_override>{
        {"run.policy", text_value(std::move(text), {std::make_shared<std::string>("--policy"), 0})}};
  };
  CHECK(parse_workload(example, "w.toml", by("fifo")).policy.which == "fifo");
  CHECK_THROWS_WITH(parse_workload(example, "w.toml", by("fifa")),
                    Catch::StartsWith("--policy: run.policy: ") && Catch::Contains("\"fifo\""));
}

TEST_CASE("the expanded workload reads back as the same workload") {
  const std::string text = bent("steps = 3\noptimizer = { learning_rate = 1e-3 }\n",
                                "steps = 3\n[model.grid]\nlearning_rate = [1e-3, 3e-4]\n\"chain.layers\" = [1, 2]\n");
  const workload w = parse_workload(text, "w.toml");
  const workload again = parse_workload(w.expanded, "other.toml");
  CHECK(again.expanded == w.expanded);
  CHECK(again.options.name == "w");
  REQUIRE(again.models.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(again.models[i].description.name == w.models[i].description.name);
    CHECK(again.models[i].description.optimizer.learning_rate == w.models[i].description.optimizer.learning_rate);
  }
}

}  // namespace hydra::apps
