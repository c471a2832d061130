// Mistakes of users in a file, and the places that the messages name.

#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/ordinary_user.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <filesystem>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string with_optimizer(const std::string& keys) {
  return refusal(bent("{ learning_rate = 1e-3 }", "{ " + keys + " }"));
}

std::string with_device(const std::string& lines) { return refusal(bent("memory = \"24MiB\"", lines)); }

std::string with_data(const std::string& lines) { return refusal(bent("kind = \"synthetic-language\"", lines)); }

}  // namespace

TEST_CASE("the example itself is accepted") { CHECK(refusal(example) == ""); }

TEST_CASE("an unknown key is refused with the nearest known one, in every table") {
  CHECK_THAT(refusal(bent("batch_size", "batchsize")),
             StartsWith("w.toml:15: model.batchsize: unknown key") && Contains("\"batch_size\""));
  CHECK_THAT(refusal(bent("seed = 7", "sed = 7")),
             StartsWith("w.toml:2: run.sed: unknown key") && Contains("\"seed\""));
  CHECK_THAT(with_device("memory = 1\nspede = 1"),
             StartsWith("w.toml:7: device.spede: unknown key") && Contains("\"speed\""));
  CHECK_THAT(with_data("kind = \"synthetic-language\"\nsymbol = 3"),
             StartsWith("w.toml:10: data.language.symbol: unknown key") && Contains("\"symbols\""));
  CHECK_THAT(with_optimizer("learning_rate = 1, epsilon = 1"),
             StartsWith("w.toml:17: model.optimizer.epsilon: unknown key; here it is model.optimizer.eps"));
  CHECK_THAT(refusal(bent("heads = 2", "head = 2")),
             StartsWith("w.toml:13: model.chain.head: unknown key") && Contains("\"heads\""));
  CHECK_THAT(refusal(bent("[run]", "[runn]")), StartsWith("w.toml:1: runn: unknown key") && Contains("\"run\""));
  CHECK_THAT(refusal(example + "[ablation]\ncash = true\n"),
             StartsWith("w.toml:19: ablation.cash: unknown key") && Contains("\"cache\""));
}

TEST_CASE("prices and powers that say nothing, or too little, are refused") {
  const auto second = [](const std::string& keys) {
    const std::string first = "memory = \"24MiB\"";
    return refusal(bent(first, first + "\nprice = 3.06\n[[device]]\nkind = \"cpu\"\nmemory = 1024" + keys));
  };
  CHECK(second("\nprice = 0") == "");
  CHECK_THAT(second(""), StartsWith("w.toml:8: device.price: missing here, but given at w.toml:7") &&
                             Contains("price = 0 if that is so"));
  CHECK_THAT(second("\nprice = -1"), StartsWith("w.toml:11: device.price: -1 "));
  CHECK_THAT(with_device("memory = 1\nbilling = \"month\""),
             StartsWith("w.toml:7: device.billing: unknown value \"month\" (known: run, used)"));
  CHECK_THAT(with_device("memory = 1\nwatts = { busy = 10 }"), Contains("device.watts.idle"));
  CHECK_THAT(with_device("memory = 1\nwatts = { busy = 10, idle = 20 }"),
             StartsWith("w.toml:7: device.watts: idle = 20 is more than busy = 10"));
  CHECK_THAT(with_device("memory = 1\nbilling = \"used\""),
             StartsWith("w.toml:7: device.billing: says for which time price and watts count"));
  CHECK(with_device("memory = 1\nprice = 1\nbilling = \"used\"") == "");
  CHECK_THAT(with_device("memory = 1\n[host]\nprice = 1"),
             StartsWith("w.toml:8: host.price: no [[device]] has a price"));
}

TEST_CASE("a goal needs prices or powers of all devices") {
  const auto with = [](const std::string& is) { return refusal(bent("seed = 7", is)); };
  CHECK(with("objective = \"makespan\"\ndeadline = \"2h\"") == "");
  CHECK_THAT(with("objective = \"cost\""), StartsWith("w.toml:2: run.objective: \"cost\" needs price of each device") &&
                                               Contains("the [[device]] at w.toml:4 has none"));
  CHECK_THAT(with("objective = \"energy\""), StartsWith("w.toml:2: run.objective: \"energy\" needs watts"));
  CHECK_THAT(with("deadline = \"0s\""), StartsWith("w.toml:2: run.deadline: no run takes so little time"));
  CHECK_THAT(with("objective = \"money\""), StartsWith("w.toml:2: run.objective: unknown value \"money\" (known: makespan, cost, energy)"));
}

TEST_CASE("a checkpoint that is impossible is refused with what is allowed") {
  const auto with = [](const std::string& is) { return refusal(bent("seed = 7", "checkpoint = " + is)); };
  CHECK_THAT(with("{ every_step = 2 }"),
             StartsWith("w.toml:2: run.checkpoint.every_step: unknown key") && Contains("\"every_steps\""));
  CHECK_THAT(with("{ every_steps = 2.5 }"),
             StartsWith("w.toml:2: run.checkpoint.every_steps: 2.5 ") && Contains("an integer of at least 0"));
  CHECK_THAT(with("{ every_steps = -1 }"), StartsWith("w.toml:2: run.checkpoint.every_steps: -1 "));
  for (const char* minutes : {"-0.5", "inf", "nan"})
    CHECK_THAT(with("{ every_minutes = " + std::string{minutes} + " }"),
               StartsWith("w.toml:2: run.checkpoint.every_minutes: " + std::string{minutes}));
  CHECK_THAT(with("{ every_minutes = \"5min\" }"), StartsWith("w.toml:2: run.checkpoint.every_minutes: the text "));
  CHECK_THAT(with("{ keep = -1 }"), StartsWith("w.toml:2: run.checkpoint.keep: -1 ") && Contains("at least 0"));
  CHECK_THAT(with("10"), StartsWith("w.toml:2: run.checkpoint: 10 ") && Contains("a table"));
}

TEST_CASE("a validation that is impossible is refused") {
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nvalidate = { batch = 2 }")),
             StartsWith("w.toml:17: model.validate.batch: unknown key") && Contains("\"batches\""));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nvalidate = { every_steps = 0 }")),
             StartsWith("w.toml:17: model.validate.every_steps: "));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nvalidate = 4")), StartsWith("w.toml:17: model.validate: "));
}

TEST_CASE("a best state is refused where nothing is saved, naming both keys") {
  std::string text = bent("steps = 3", "steps = 3\nvalidate = { keep_best = true }");
  CHECK(refusal(text) == "");
  text.replace(text.find("seed = 7"), 8, "checkpoint = { keep = 0 }");
  CHECK_THAT(refusal(text), StartsWith("w.toml:17: model.validate.keep_best: ") && Contains("run.checkpoint.keep = 0"));
  text.replace(text.find("keep_best = true"), 16, "keep_best = false");
  CHECK(refusal(text) == "");
}

TEST_CASE("a priority, deadline or arrival that makes no sense is refused") {
  const auto with = [](const std::string& lines) { return refusal(bent("steps = 3", "steps = 3\n" + lines)); };
  for (const char* priority : {"0", "-1", "nan", "inf", "\"high\""})
    CHECK_THAT(with("priority = " + std::string{priority}),
               StartsWith("w.toml:17: model.priority: ") && Contains("a number above 0"));
  CHECK_THAT(with("arrival = 3"), StartsWith("w.toml:17: model.arrival: 3 ") && Contains("a time such as \"5ms\""));
  CHECK_THAT(with("deadline = \"soon\""), StartsWith("w.toml:17: model.deadline: "));
  CHECK_THAT(with("arrival = \"2s\"\ndeadline = \"2s\""),
             StartsWith("w.toml:18: model.deadline: 2.000 s is not after the model's arrival at 2.000 s"));
  CHECK(with("arrival = \"2s\"\ndeadline = \"2.5s\"\npriority = 0.5") == "");
}

TEST_CASE("the message about a misplaced key says where it belongs") {
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nlearning_rate = 1")),
             StartsWith("w.toml:17: model.learning_rate: ") &&
                 Contains("unknown key; here it is model.optimizer.learning_rate"));
  CHECK_THAT(with_optimizer("learning_rate = 1, momentum = 0.9"), Contains("belongs to kind \"sgd\""));
}

TEST_CASE("a wrong type is refused with the value and what is expected") {
  CHECK_THAT(refusal(bent("steps = 3", "steps = \"three\"")),
             StartsWith("w.toml:16: model.steps: the text \"three\"") && Contains("an integer of at least 1"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3.0")), StartsWith("w.toml:16: model.steps: 3.0"));
  CHECK_THAT(refusal(bent("batch_size = 4", "batch_size = 4.5")), StartsWith("w.toml:15: model.batch_size: 4.5"));
  CHECK_THAT(refusal(bent("\"gpt\"", "5")), StartsWith("w.toml:12: model.name: 5 ") && Contains("a text"));
  CHECK_THAT(refusal(bent("{ learning_rate = 1e-3 }", "1e-3")),
             StartsWith("w.toml:17: model.optimizer: 1e-3 ") && Contains("a table"));
  CHECK_THAT(refusal(bent("[data.language]", "[data]\nlanguage = 3\n[data.other]")),
             StartsWith("w.toml:9: data.language: 3 "));
  CHECK_THAT(refusal(bent("[[device]]", "[device]")),
             StartsWith("w.toml:4: device: a table ") && Contains("[[device]]"));
  CHECK_THAT(refusal(example + "[ablation]\ncache = 1\n"),
             StartsWith("w.toml:19: ablation.cache: 1 ") && Contains("true or false"));
  CHECK_THAT(refusal(bent("\"gpt\"", "1979-05-27")), StartsWith("w.toml:12: model.name: a date or time"));
  CHECK_THAT(refusal(bent("\"24MiB\"", "true")), StartsWith("w.toml:6: device.memory: true "));
}

TEST_CASE("negative, zero, infinite and undefined numbers are refused where they make no sense") {
  for (const char* steps : {"0", "-1", "9000000000"})
    CHECK_THAT(refusal(bent("steps = 3", std::string{"steps = "} + steps)),
               StartsWith("w.toml:16: model.steps: " + std::string{steps}));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 4294967297")),
             StartsWith("w.toml:16: model.steps: 4294967297") && Contains("at most"));
  for (const char* size : {"0", "-4"})
    CHECK_THAT(refusal(bent("batch_size = 4", std::string{"batch_size = "} + size)),
               StartsWith("w.toml:15: model.batch_size: ") && Contains("at least 1"));
  CHECK_THAT(with_optimizer("learning_rate = 1e999"), StartsWith("w.toml:17: "));
  for (const char* rate : {"0", "-0.1", "nan", "inf", "-inf"})
    CHECK_THAT(with_optimizer("learning_rate = " + std::string{rate}),
               StartsWith("w.toml:17: model.optimizer.learning_rate: " + std::string{rate}));
  CHECK_THAT(refusal(bent("seed = 7", "seed = -7")), StartsWith("w.toml:2: run.seed: -7 ") && Contains("at least 0"));
  CHECK_THAT(with_optimizer("learning_rate = 1, betas = [0.9, 1]"),
             StartsWith("w.toml:17: model.optimizer.betas: ") && Contains("below 1"));
  CHECK_THAT(with_optimizer("learning_rate = 1, betas = [0.9]"),
             StartsWith("w.toml:17: model.optimizer.betas: ") && Contains("two numbers"));
  CHECK_THAT(with_device("memory = 1\nspeed = 0"),
             StartsWith("w.toml:7: device.speed: 0 ") && Contains("above 0 and at most 1"));
  CHECK_THAT(with_device("memory = 1\nspeed = 1.5"), StartsWith("w.toml:7: device.speed: 1.5 "));
  CHECK_THAT(with_device("memory = 1\ncount = 0"), StartsWith("w.toml:7: device.count: 0 "));
}

TEST_CASE("more devices than there are memory accounts are refused, in one table or in several") {
  CHECK(with_device("memory = 1\ncount = 1022") == "");
  CHECK_THAT(with_device("memory = 1\ncount = 1023"),
             StartsWith("w.toml:7: device.count: 1023 ") && Contains("at most 1022"));
  const std::string another = "\n[[device]]\nkind = \"cpu\"\nmemory = 1\n";
  CHECK(with_device("memory = 1\ncount = 1021" + another) == "");
  CHECK_THAT(with_device("memory = 1\ncount = 1021" + another + "count = 2"),
             StartsWith("w.toml:11: device.count: 2 here make 1023 devices in all") && Contains("at most 1022"));
}

TEST_CASE("sizes, rates and times need their unit and a sensible number") {
  for (const char* memory : {"\"0MiB\"", "0", "-5", "\"24 sheep\"", "\"\"", "\"60%\"", "1.5"})
    CHECK_THAT(with_device(std::string{"memory = "} + memory), StartsWith("w.toml:6: device.memory: "));
  CHECK_THAT(with_device("memory = \"99999999999TiB\""),
             StartsWith("w.toml:6: device.memory: ") && Contains("99999999999TiB"));
  CHECK_THAT(with_device("memory = 1\nlink = \"1GiB\""), StartsWith("w.toml:7: device.link: ") && Contains("GiB/s"));
  CHECK_THAT(with_device("memory = 1\nlink = 1000"),
             StartsWith("w.toml:7: device.link: 1000 ") && Contains("a rate such as"));
  CHECK_THAT(with_device("memory = 1\nlink = \"0GiB/s\""),
             StartsWith("w.toml:7: device.link: ") && Contains("leave the key out for a link that is not emulated"));
  CHECK_THAT(with_device("memory = 1\nlatency = \"5\""), StartsWith("w.toml:7: device.latency: ") && Contains("ms"));
  for (const char* share : {"\"0%\"", "\"101%\"", "\"-5%\"", "\"x%\"", "\"nan%\"", "\"%\""})
    CHECK_THAT(refusal(bent("seed = 7", std::string{"[host]\nmemory = "} + share)),
               StartsWith("w.toml:3: host.memory: ") && Contains("75%"));
}

TEST_CASE("missing keys are named with their table") {
  CHECK_THAT(refusal(bent("batch_size = 4\n", "")),
             StartsWith("w.toml:11: model.batch_size: missing") && Contains("integer"));
  CHECK_THAT(refusal(bent("name = \"gpt\"\n", "")), StartsWith("w.toml:11: model.name: missing"));
  CHECK_THAT(refusal(bent("optimizer = { learning_rate = 1e-3 }\n", "")),
             StartsWith("w.toml:11: model.optimizer: missing"));
  CHECK_THAT(with_optimizer("weight_decay = 0"), StartsWith("w.toml:17: model.optimizer.learning_rate: missing"));
  CHECK_THAT(with_device(""), StartsWith("w.toml:4: device.memory: missing"));
  CHECK_THAT(refusal(bent("kind = \"cpu\"\n", "")), StartsWith("w.toml:4: device.kind: missing") && Contains("cpu"));
  CHECK_THAT(refusal(bent("width = 8, ", "")), StartsWith("w.toml:13: model.chain.width: missing"));
  CHECK_THAT(refusal(bent("family = \"gpt2\", ", "")),
             StartsWith("w.toml:13: model.chain.family: missing") && Contains("mlp"));
}

TEST_CASE("a workload needs devices, data and models") {
  CHECK_THAT(refusal(""), StartsWith("w.toml:1: device: missing"));
  CHECK_THAT(refusal("device = []\n[data.d]\nkind = \"synthetic-language\"\n[[model]]\n").substr(0, 30),
             StartsWith("w.toml:4: model."));
  CHECK_THAT(refusal(example.substr(0, example.find("[[model]]"))), StartsWith("w.toml:1: model: missing"));
  CHECK_THAT(
      refusal("device = []\n" + example.substr(0, example.find("[[device]]")) + example.substr(example.find("[data"))),
      StartsWith("w.toml:1: device: at least one"));
}

TEST_CASE("unknown names of kinds, families, policies and data are refused with the nearest") {
  CHECK_THAT(refusal(bent("seed = 7", "policy = \"sharded-lrft\"")),
             StartsWith("w.toml:2: run.policy: ") && Contains("mean \"sharded-lrtf\""));
  CHECK_THAT(refusal(bent("\"cpu\"", "\"cpuu\"")), StartsWith("w.toml:5: device.kind: ") && Contains("mean \"cpu\""));
  CHECK_THAT(with_data("kind = \"synthetic-languag\""),
             StartsWith("w.toml:9: data.language.kind: ") && Contains("mean \"synthetic-language\""));
  CHECK_THAT(refusal(bent("\"gpt2\"", "\"gtp2\"")),
             StartsWith("w.toml:13: model.chain.family: ") && Contains("mean \"gpt2\""));
  CHECK_THAT(refusal(bent("data = \"language\"", "data = \"languages\"")),
             StartsWith("w.toml:14: model.data: ") && Contains("mean \"language\""));
  CHECK_THAT(with_optimizer("kind = \"adam\", learning_rate = 1"),
             StartsWith("w.toml:17: model.optimizer.kind: ") && Contains("here it is \"adamw\""));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\ncuts = \"balance\"")),
             StartsWith("w.toml:17: model.cuts: ") && Contains("mean \"balanced\"") && Contains("greedy"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\ncuts = \"old/plan.json\"")),
             StartsWith("w.toml:17: model.cuts: no such file \"old/plan.json\""));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nloss = \"mes\"")),
             StartsWith("w.toml:17: model.loss: ") && Contains("mean \"mse\""));
}

TEST_CASE("options of a chain that exclude each other are refused") {
  CHECK_THAT(refusal(bent("heads = 2", "heads = 3")), StartsWith("w.toml:13: model.chain: ") && Contains("heads"));
}

TEST_CASE("keys of a model that exclude each other are refused") {
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nepochs = 1")),
             StartsWith("w.toml:16: model.steps: ") && Contains("exactly one"));
  CHECK_THAT(refusal(bent("steps = 3\n", "")), StartsWith("w.toml:11: model.steps: ") && Contains("exactly one"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nmicro_batches = 3")),
             StartsWith("w.toml:17: model.micro_batches: 3 ") && Contains("evenly"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nmicro_batches = 8")),
             StartsWith("w.toml:17: model.micro_batches: 8 ") && Contains("4"));
  CHECK_THAT(with_optimizer("kind = \"sgd\", learning_rate = 1, nesterov = true"),
             StartsWith("w.toml:17: model.optimizer: momentum is 0; it must be positive with nesterov"));
}

TEST_CASE("keys as other programs call them are refused with their names here") {
  const std::string rate = "unknown key; here it is model.optimizer.learning_rate";
  CHECK_THAT(with_optimizer("lr = 1"), StartsWith("w.toml:17: model.optimizer.lr: " + rate));
  CHECK_THAT(refusal(bent("steps = 3", "lr = 1")), StartsWith("w.toml:16: model.lr: " + rate));
  CHECK_THAT(refusal("lr = 1\n" + example), StartsWith("w.toml:1: lr: " + rate));
}

TEST_CASE("what no recipe can mean is refused where it is written") {
  const auto with_schedule = [](const std::string& keys) {
    return refusal(bent("steps = 3", "steps = 3\nschedule = { " + keys + " }"));
  };
  CHECK_THAT(with_schedule("warmup = 3, warmup_ratio = 0.1"),
             StartsWith("w.toml:17: model.schedule.warmup_ratio: warmup is given too"));
  CHECK_THAT(with_schedule("kind = \"linear\", decay_ratio = 0.1"),
             StartsWith("w.toml:17: model.schedule.decay_ratio: "));
  CHECK_THAT(with_schedule("kind = \"cosine-restarts\", cycles = 0"),
             StartsWith("w.toml:17: model.schedule.cycles: 0 "));
  CHECK_THAT(with_schedule("kind = \"wsd\", warmup_ratio = 0.5, decay_ratio = 0.75"),
             StartsWith("w.toml:17: model.schedule: warmup_ratio + decay_ratio is 1.25; it must be at most 1"));
  CHECK_THAT(with_optimizer("learning_rate = 1, decay = \"vectors\""),
             StartsWith("w.toml:17: model.optimizer.decay: ") && Contains("matrices"));
  CHECK_THAT(with_optimizer("learning_rate = 1, groups = [{ learning_rate = 1 }]"),
             Contains("model.optimizer.groups.parameters"));
  CHECK_THAT(with_optimizer("kind = \"lion\", learning_rate = 1, eps = 1"), Contains("model.optimizer.eps"));
}

TEST_CASE("cuts start with 0 and ascend") {
  for (const char* cuts : {"[1, 2]", "[0, 2, 2]", "[0, 2, 1]", "[0, \"1\"]", "[-1]"})
    CHECK_THAT(refusal(bent("steps = 3", std::string{"steps = 3\ncuts = "} + cuts)),
               StartsWith("w.toml:17: model.cuts: ") && Contains("ascend"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\ncuts = []")), StartsWith("w.toml:17: model.cuts: "));
}

TEST_CASE("a name used twice is refused with both places") {
  const std::string model = example.substr(example.find("[[model]]"));
  CHECK_THAT(refusal(example + model),
             StartsWith("w.toml:19: model.name: \"gpt\" is used twice") && Contains("w.toml:11"));
}

TEST_CASE("names that are not folder names are refused") {
  CHECK_THAT(refusal(bent("\"gpt\"", "\"a/b\"")), StartsWith("w.toml:12: model.name: "));
  CHECK_THAT(refusal(bent("\"gpt\"", "\"\"")), StartsWith("w.toml:12: model.name: "));
  CHECK_THAT(refusal(bent("\"gpt\"", "\"a\\u202eb\"")), StartsWith("w.toml:12: model.name: \"a\\u202eb\" cannot name"));
  CHECK_THAT(refusal(bent("\"gpt\"", "\"a\\u009bb\"")), StartsWith("w.toml:12: model.name: \"a\\u009bb\" cannot name"));
  const auto data_name = [](const std::string& is) { return refusal(bent("data.language", "data.\"" + is + "\"")); };
  CHECK_THAT(data_name("/a/b"), StartsWith("w.toml:8: data: \"/a/b\" cannot name"));
  CHECK_THAT(data_name("a\\u001b"), StartsWith("w.toml:8: data: \"a\\x1b\" cannot name"));
  CHECK_THAT(refusal(bent("seed = 7", "name = \"..\"")), StartsWith("w.toml:2: run.name: "));
  CHECK_THAT(refusal(bent("seed = 7", "output = \"\"")), StartsWith("w.toml:2: run.output: "));
}

TEST_CASE("names that are too long for a folder are refused; a model's is longer where it is escaped") {
  const auto named = [](const std::string& name) { return refusal(bent("\"gpt\"", "\"" + name + "\"")); };
  CHECK(named(std::string(255, 'a')).empty());
  CHECK_THAT(named(std::string(256, 'a')), StartsWith("w.toml:12: model.name: ") && Contains("256 bytes"));
  CHECK_THAT(named(std::string(86, ' ')), StartsWith("w.toml:12: model.name: ") && Contains("258 bytes"));
  CHECK(refusal(bent("seed = 7", "name = \"" + std::string(86, ' ') + "\"")).empty());
  CHECK_THAT(refusal(bent("seed = 7", "name = \"" + std::string(256, 'a') + "\"")),
             StartsWith("w.toml:2: run.name: ") && Contains("256 bytes"));
}

TEST_CASE("text that is not TOML is refused with its line") {
  CHECK_THAT(refusal("[run]\nseed = \n"), StartsWith("w.toml:2: not valid TOML"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\nsteps = 4")), StartsWith("w.toml:17: not valid TOML"));
  CHECK_THAT(refusal("{}"), StartsWith("w.toml:1: not valid TOML"));
  CHECK_THAT(refusal("seed = 99999999999999999999\n"), StartsWith("w.toml:1: not valid TOML"));
  CHECK_THAT(refusal("[run]\nname = \"\xFF\"\n"), StartsWith("w.toml:2: not valid TOML"));
  CHECK_THAT(refusal(example.substr(0, example.size() - 4)), StartsWith("w.toml:17: not valid TOML"));
}

TEST_CASE("files that data name must be there") {
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"no such file\""),
             StartsWith("w.toml:10: data.language.train: no such file \"no such file\" in " +
                        std::filesystem::current_path().string() + ", the working directory"));
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"/\""),
             StartsWith("w.toml:10: data.language.train: ") && Contains("folder"));
  const temporary_folder folder;
  const std::string there = "train = \"" + folder.write("there", "text").string() + "\"";
  CHECK_THAT(with_data("kind = \"text\"\n" + there + "\nvalidation = \"no such file\""),
             StartsWith("w.toml:11: data.language.validation: "));
  CHECK_THAT(with_data("kind = \"tokens\"\n" + there), StartsWith("w.toml:9: data.vocabulary: missing"));
}

TEST_CASE("a device or a pipe in the place of a file is refused before anything reads it") {
  const temporary_folder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"/dev/zero\""),
             StartsWith("w.toml:10: data.language.train: /dev/zero: a device; a file is expected"));
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"" + pipe + "\""), Contains("pipe: a pipe; a file is expected"));
  CHECK_THAT(refusal(bent("steps = 3", "steps = 3\ncuts = \"/dev/zero\"")),
             StartsWith("w.toml:17: model.cuts: /dev/zero: a device; a file is expected"));
}

TEST_CASE("a shape is channels, height and width, and excludes features") {
  const std::string kind = "kind = \"synthetic-classes\"\n";
  for (const char* shape : {"[3, 8]", "[3, 8, 0]", "[3, 8, 8.0]", "64", "[1, 2, 3, 4]"})
    CHECK_THAT(with_data(kind + "shape = " + shape),
               StartsWith("w.toml:10: data.language.shape: ") && Contains("[channels, height, width]"));
  CHECK_THAT(with_data(kind + "features = 8\nshape = [3, 8, 8]"),
             StartsWith("w.toml:11: data.shape: ") && Contains("features"));
}

TEST_CASE("a file next to the workload file is mentioned if it is looked for elsewhere") {
  const temporary_folder folder;
  const std::string corpus = folder.write("corpus.txt", "text").string();
  const std::string text = bent("kind = \"synthetic-language\"", "kind = \"text\"\ntrain = \"corpus.txt\"");
  CHECK_THROWS_WITH(parse_workload(text, (folder.path() / "w.toml").string()), Contains("there is \"" + corpus));
}

TEST_CASE("a data file that may not be read, or a link to nowhere, is refused by name") {
  const temporary_folder folder;
  const std::string secret = folder.write("secret.txt", "text").string(),
                    dangling = (folder.path() / "dangling").string();
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  std::filesystem::create_symlink("nowhere", dangling);
  const test::ordinary_user somebody;
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"" + secret + "\""),
             StartsWith("w.toml:10: data.language.train: ") && Contains("secret.txt: Permission denied"));
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"" + dangling + "\""),
             StartsWith("w.toml:10: data.language.train: no such file") && Contains("dangling"));
}

TEST_CASE("an empty data file is refused") {
  const temporary_folder folder;
  CHECK_THAT(with_data("kind = \"text\"\ntrain = \"" + folder.write("empty.txt", "").string() + "\""),
             Contains("is empty"));
}

TEST_CASE("a workload file that is not there, a folder or a link to nowhere is refused by name") {
  const temporary_folder folder;
  const std::filesystem::path dangling = folder.path() / "dangling.toml";
  std::filesystem::create_symlink("nowhere", dangling);
  CHECK_THROWS_WITH(read_workload(dangling), dangling.string() + ": no such file");
  CHECK_THROWS_WITH(read_workload("no/such.toml"), "no/such.toml: no such file");
  CHECK_THROWS_WITH(read_workload("/"), StartsWith("/: a folder; a file is expected"));
}

TEST_CASE("a workload file that may not be read is refused with the reason") {
  const temporary_folder folder;
  const auto file = folder.write("secret.toml", example);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const test::ordinary_user somebody;
  CHECK_THROWS_WITH(read_workload(file), file.string() + ": Permission denied");
}

}  // namespace hydra::apps
