// [search]: models that are drawn, and what the search needs of them.

#include "actors/selection/search_rules.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/forbidden_changes.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

// Line 18 is [search].
constexpr const char* of_halving = "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\n";
constexpr const char* of_rate = "space.learning_rate = { log_uniform = [1e-5, 1e-3] }\n";

std::string with_search(const std::string& search, const std::string& name = "gpt") {
  return bent("name = \"gpt\"", "name = \"" + name + "\"") + "[search]\n" + search;
}

std::string drawn(const std::string& space, const std::string& name = "gpt", int samples = 6) {
  return with_search(fmt::format("kind = \"random\"\nsamples = {}\n{}", samples, space), name);
}

std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> all;
  for (const model_entry& m : parse_workload(text, "w.toml").models) all.push_back(m.description.name);
  return all;
}

std::vector<double> rates(const workload& w) {
  std::vector<double> all;
  for (const model_entry& m : w.models) all.push_back(m.description.optimizer.learning_rate);
  return all;
}

std::string halved(const std::string& more, const std::string& model = "steps = 3\n") {
  return bent("steps = 3\n", model) + of_halving + more;
}

search_settings settings(const std::string& text) { return parse_workload(text, "w.toml").search.value(); }

}  // namespace

TEST_CASE("a search draws its models within the bounds, the same ones on every run") {
  const std::string text = drawn(of_rate, "gpt", 200);
  const workload w = parse_workload(text, "w.toml");
  REQUIRE(w.models.size() == 200);
  std::size_t low = 0;
  for (const double rate : rates(w)) {
    CHECK(rate >= 1e-5);
    CHECK(rate <= 1e-3);
    low += rate < 1e-4;
  }
  CHECK(static_cast<double>(low) == Approx(100).margin(25));  // a decade each
  CHECK(rates(parse_workload(text, "w.toml")) == rates(w));
}

TEST_CASE("what is drawn for a model depends on the seed, its place and the key only") {
  const auto drawn_rates = [](const std::string& more, int samples) {
    return rates(parse_workload(drawn(more, "gpt", samples), "w.toml"));
  };
  const auto few = drawn_rates(of_rate, 4), many = drawn_rates(of_rate, 8);
  CHECK(std::vector(many.begin(), many.begin() + 4) == few);
  CHECK(drawn_rates(std::string{"space.batch_size = { choice = [4, 8] }\n"} + of_rate, 4) == few);
  CHECK(drawn_rates(std::string{"seed = 0\n"} + of_rate, 4) == few);
  CHECK(drawn_rates(std::string{"seed = 1\n"} + of_rate, 4) != few);
}

TEST_CASE("each form of distribution draws values of its kind") {
  const workload w = parse_workload(drawn("[search.space]\n"
                                          "\"optimizer.weight_decay\" = { uniform = [0, 0.5] }\n"
                                          "batch_size = { choice = [4, 8, 16] }\n"
                                          "seed = { integers = [3, 5] }\n"
                                          "optimizer.betas = { choice = [[0.9, 0.95], [0.8, 0.9]] }\n"
                                          "warmup = { integers = [1, 1000], log = true }\n"
                                          "schedule.kind = { choice = [\"cosine\", \"linear\"] }\n",
                                          "gpt", 100),
                                    "w.toml");
  std::set<std::uint32_t> batches;
  std::set<std::uint64_t> seeds;
  std::set<double> betas;
  std::size_t short_warmups = 0;
  for (const model_entry& m : w.models) {
    const update_options& o = m.description.optimizer;
    CHECK((o.weight_decay >= 0 && o.weight_decay <= 0.5));
    batches.insert(m.description.batch_size);
    seeds.insert(m.description.seed.value());
    betas.insert(o.beta1);
    short_warmups += o.schedule.warmup <= 30;
  }
  CHECK(batches == std::set<std::uint32_t>{4, 8, 16});
  CHECK(seeds == std::set<std::uint64_t>{3, 4, 5});
  CHECK(betas == std::set<double>{0.8, 0.9});
  CHECK(static_cast<double>(short_warmups) == Approx(50).margin(20));
}

TEST_CASE("models that are drawn get numbers of one width, or the values that their name asks for") {
  CHECK(names(drawn(of_rate, "gpt", 3)) == std::vector<std::string>{"gpt-1", "gpt-2", "gpt-3"});
  CHECK(names(drawn(of_rate, "gpt", 10)).front() == "gpt-01");
  CHECK(names(drawn(of_rate, "gpt", 10)).back() == "gpt-10");
  const workload w = parse_workload(drawn(of_rate, "m{learning_rate}"), "w.toml");
  for (const model_entry& m : w.models)
    CHECK(std::stod(m.description.name.substr(1)) == m.description.optimizer.learning_rate);
}

TEST_CASE("a search without samples chooses among the models of the file, a grid's for example") {
  const std::string grid = "[model.grid]\nlearning_rate = [1e-3, 2e-3, 3e-3]\n";
  const search_settings s = settings(example + grid + "[search]\nkind = \"halving\"\nfirst = 1\n");
  CHECK(s.trials.size() == 3);
  CHECK(s.trials.front().name == "gpt-1e-3");
  CHECK(settings(example + grid + "[search]\nkind = \"grid\"\n").kind == search_kind::grid);
}

TEST_CASE("a workload tells what the search needs to decide") {
  const search_settings s = settings(halved(of_rate));
  CHECK(s.kind == search_kind::halving);
  CHECK(s.metric == search_metric::validation);
  CHECK(s.steps == 3);
  CHECK(s.first == 1);
  CHECK(s.factor == 2);
  CHECK(s.trials.size() == 4);
  REQUIRE(s.space.size() == 1);
  CHECK(s.space.front() == searched_key{"optimizer.learning_rate", distribution::log_uniform, 1e-5, 1e-3});
  const search_settings pbt = settings(
      with_search(std::string{"kind = \"pbt\"\nmetric = \"accuracy\"\nseed = 5\nsamples = 4\nevery = 2\n"} + of_rate));
  CHECK(pbt.metric == search_metric::accuracy);
  CHECK(pbt.every == 2);
  CHECK(pbt.seed == 5);
  CHECK(pbt.trials.front().keys.at(0).key == "optimizer.learning_rate");
  CHECK_FALSE(parse_workload(example, "w.toml").search);
}

TEST_CASE("a search by a rule of a plug-in names it, and its models are evaluated on their way") {
  const std::string file = hydra::test::test_plugin("median").string();
  const auto with_rule = [&](const std::string& rule,
                             const char* validate = "validate = { every_steps = 2, batches = 1 }\n") {
    return bent("steps = 3\n", std::string{"steps = 9\n"} + validate) +
           "[search]\nkind = \"own\"\nsamples = 4\nrule = " + rule + "\n" + of_rate;
  };
  const search_settings s = settings(with_rule("{ name = \"" + file + "\", others = 5 }"));
  CHECK(s.own == "median");
  CHECK(s.options == std::map<std::string, double>{{"others", 5}});
  CHECK(make_search_rule(s)->describe() == "median: 4 trials");
  CHECK_THROWS_WITH(settings(with_rule("\"median\"")), Contains("search.rule: there is no rule \"median\""));
  CHECK_THROWS_WITH(settings(with_rule("{ name = \"" + file + "\", other = 5 }")), Contains("did you mean \"others\""));
  CHECK_THROWS_WITH(settings(with_rule("\"" + file + "\"", "")), Contains("is evaluated at its end only"));
}

TEST_CASE("models are evaluated at the rungs of a search, if they say nothing else that suits") {
  const auto every = [](const std::string& text) {
    return parse_workload(text, "w.toml").models.front().description.validate.value().every_steps;
  };
  CHECK(every(halved(of_rate)) == 1);
  CHECK(every(with_search(std::string{"kind = \"pbt\"\nsamples = 4\nevery = 2\n"} + of_rate)) == 2);
  CHECK(every(bent("steps = 3\n", "steps = 9\nvalidate = { every_steps = 2, batches = 1 }\n") +
              "[search]\nkind = \"asha\"\nsamples = 4\nfirst = 4\n" + of_rate) == 2);
  CHECK(every(bent("steps = 3\n", "steps = 9\nvalidate = { batches = 1 }\n") +
              "[search]\nkind = \"asha\"\nsamples = 4\nfirst = 4\n" + of_rate) == 4);
  CHECK_FALSE(parse_workload(drawn(of_rate), "w.toml").models.front().description.validate);
}

TEST_CASE("a workload as it was run has the drawn models and draws no more") {
  const workload w = parse_workload(
      halved("seed = 3\n" + std::string{of_rate} + "space.batch_size = { choice = [4, 0x8] }\n"), "w.toml");
  CHECK_THAT(w.expanded, !Contains("samples") && Contains("[search]\nkind = \"halving\"\n") &&
                             Contains("space = { learning_rate = { log_uniform = [1e-5, 1e-3] }"));
  const workload again = parse_workload(w.expanded, "workload.toml");
  CHECK(again.expanded == w.expanded);
  CHECK(rates(again) == rates(w));
  CHECK(again.search->trials.size() == w.search->trials.size());
  CHECK(again.search->steps == w.search->steps);
  const place at{std::make_shared<std::string>("workload.toml"), 1};
  CHECK(forbidden_changes({again.as_run, at, ""}, {w.as_run, w.file, ""}).empty());
}

TEST_CASE("a run that is resumed may not search otherwise") {
  const auto changes = [](const std::string& part, const std::string& by) {
    std::string text = halved(of_rate);
    const workload was = parse_workload(text, "w.toml");
    const workload is = parse_workload(text.replace(text.find(part), part.size(), by), "w.toml");
    std::vector<std::string> keys;
    for (const forbidden_change& c : forbidden_changes({was.as_run, was.file, ""}, {is.as_run, is.file, ""}))
      keys.push_back(c.key);
    return keys;
  };
  CHECK(changes("factor = 2", "factor = 3") == std::vector<std::string>{"search.factor"});
  CHECK(changes("factor = 2", "factor = 2\nmetric = \"validation\"").empty());
  CHECK(changes("samples = 4", "samples = 5") == std::vector<std::string>{"model.gpt-5"});
  CHECK_THAT(changes("factor = 2", "seed = 1\nfactor = 2"), Catch::VectorContains(std::string{"search.seed"}));
}

TEST_CASE("options of the command line change a search, and single models that were drawn") {
  const std::string text = drawn(of_rate);
  const auto with = [&](const std::string& option) { return parse_workload(text, "w.toml", {parse_override(option)}); };
  CHECK(with("search.samples=3").models.size() == 3);
  CHECK(rates(with("search.space.learning_rate={ choice = [0.5] }")) == std::vector<double>(6, 0.5));
  CHECK(rates(with("model.gpt-2.optimizer.learning_rate=7")).at(1) == 7);
  CHECK(with("model.batch_size=2").models.back().description.batch_size == 2);
  CHECK_THROWS_WITH(with("model.optimizer.learning_rate=7"),
                    StartsWith("--set model.optimizer.learning_rate=7: ") && Contains("varies it at w.toml:21"));
  CHECK_THROWS_WITH(with("model.gpt.optimizer.learning_rate=7"), Contains("varies it at w.toml:21"));
}

TEST_CASE("a search of a kind that there is not, or with keys of another kind, is refused") {
  CHECK_THAT(refusal(with_search("samples = 4\n")), StartsWith("w.toml:18: search.kind: missing"));
  CHECK_THAT(refusal(with_search("kind = \"halfing\"\n")), Contains("did you mean \"halving\""));
  CHECK_THAT(refusal(with_search("kind = \"grid\"\nsamples = 4\n")),
             StartsWith("w.toml:20: search.samples: ") && Contains("it belongs to kind \"random\" or \"halving\""));
  CHECK_THAT(refusal(with_search("kind = \"halving\"\nevery = 4\n")), Contains("it belongs to kind \"pbt\""));
  CHECK_THAT(refusal(with_search("kind = \"halving\"\nsamples = 4\n")), Contains("search.first: missing"));
  CHECK_THAT(refusal(with_search("kind = \"random\"\nsamples = 1\n")), StartsWith("w.toml:20: search.samples: "));
  CHECK_THAT(refusal(with_search("kind = \"random\"\nmetric = \"loss\"\n")), StartsWith("w.toml:20: search.metric: "));
  CHECK_THAT(refusal(example + "[[search]]\nkind = \"grid\"\n"), StartsWith("w.toml:18: search: "));
}

TEST_CASE("a search with nothing to choose from is refused") {
  CHECK_THAT(refusal(with_search("kind = \"grid\"\n")),
             StartsWith("w.toml:18: search: there is one model") && Contains("add [model.grid]"));
  CHECK_THAT(refusal(with_search("kind = \"halving\"\nfirst = 1\n")), Contains("add samples = N and [search.space]"));
  CHECK_THAT(refusal(with_search("kind = \"random\"\nsamples = 4\n")),
             StartsWith("w.toml:20: search.samples: there is no [search.space]"));
}

TEST_CASE("models are drawn from one table, without a grid") {
  const std::string second = "[[model]]\nname = \"b\"\n";
  CHECK_THAT(refusal(example + second + "[search]\nkind = \"random\"\nsamples = 4\n" + of_rate),
             StartsWith("w.toml:22: search.samples: models are drawn from one [[model]], and there are 2"));
  CHECK_THAT(refusal(example + "[model.grid]\nseed = [1, 2]\n[search]\nkind = \"random\"\nsamples = 4\n" + of_rate),
             StartsWith("w.toml:18: model.grid: the model is drawn by [search]") && Contains("choice"));
}

TEST_CASE("a space that is none is refused where it is wrong") {
  const auto space_refusal = [](const std::string& space) { return refusal(drawn("[search.space]\n" + space)); };
  CHECK_THAT(refusal(drawn("space = 3\n")), StartsWith("w.toml:21: search.space: 3 is given"));
  CHECK_THAT(refusal(drawn("space = {}\n")), StartsWith("w.toml:21: search.space: a table is given"));
  CHECK_THAT(space_refusal("batch_size = [4, 8]\n"),
             StartsWith("w.toml:22: search.space.batch_size: a list is given") && Contains("choice = [8, 16]"));
  CHECK_THAT(space_refusal("seed = { unifrom = [1, 2] }\n"), StartsWith("w.toml:22: search.space.seed.unifrom: "));
  CHECK_THAT(space_refusal("seed = { integers = [1, 2], step = 1 }\n"),
             StartsWith("w.toml:22: search.space.seed.step: integers has no such key"));
  CHECK_THAT(space_refusal("seed = { choice = [1], uniform = [1, 2] }\n"),
             StartsWith("w.toml:22: search.space.seed.choice: uniform has no such key"));
  CHECK_THAT(space_refusal("learning_rate = { uniform = [1] }\n"), Contains("expected a list of two numbers"));
  CHECK_THAT(space_refusal("learning_rate = { uniform = [1, inf] }\n"), Contains("expected a list of two numbers"));
  CHECK_THAT(space_refusal("learning_rate = { uniform = [2, 1] }\n"), Contains("first bound must be below the second"));
  CHECK_THAT(space_refusal("learning_rate = { log_uniform = [0, 1] }\n"), Contains("must be above 0"));
  CHECK_THAT(space_refusal("seed = { integers = [0.5, 2] }\n"), Contains("expected a list of two integers"));
  CHECK_THAT(space_refusal("seed = { integers = [0, 2], log = true }\n"), Contains("must be above 0"));
  CHECK_THAT(space_refusal("seed = { integers = [1, 2], log = 1 }\n"), Contains("log = 1 is given"));
  CHECK_THAT(space_refusal("seed = { integers = [1, 9000000000000000] }\n"), Contains("may be at most 1e+15"));
  CHECK_THAT(space_refusal("seed = { choice = [] }\n"), Contains("expected a list of one value or more"));
  CHECK_THAT(space_refusal("seed = { choice = [{}] }\n"), Contains("expected a list of one value or more"));
}

TEST_CASE("keys of a space are those of grids") {
  const auto space_refusal = [](const std::string& space) { return refusal(drawn("[search.space]\n" + space)); };
  CHECK_THAT(space_refusal("learning_rat = { uniform = [1, 2] }\n"),
             StartsWith("w.toml:22: search.space.learning_rat: unknown key; did you mean \"learning_rate\""));
  CHECK_THAT(space_refusal("name = { choice = [\"a\"] }\n"), StartsWith("w.toml:22: search.space.name: unknown key"));
  CHECK_THAT(
      space_refusal("learning_rate = { uniform = [1, 2] }\noptimizer.learning_rate = { uniform = [1, 2] }\n"),
      StartsWith("w.toml:23: search.space.optimizer.learning_rate: \"optimizer.learning_rate\" is varied twice"));
  CHECK_THAT(space_refusal("batch_size = { uniform = [1, 2] }\n"),
             StartsWith("w.toml:22: model.batch_size: 1.") && Contains("expected an integer"));
}

TEST_CASE("names that the drawn values do not distinguish are refused, and so are braces that nothing fills in") {
  CHECK_THAT(refusal(drawn("space.batch_size = { choice = [4, 8] }\n", "m{batch_size}")),
             StartsWith("w.toml:12: model.name: \"m") && Contains("is drawn twice; leave the braces out"));
  CHECK_THAT(refusal(drawn(of_rate, "m{seed}")),
             StartsWith("w.toml:12: model.name: {seed} names no key that is varied"));
}

TEST_CASE("models that a search compares have equal steps, and rungs below them") {
  CHECK_THAT(refusal(halved(of_rate, "epochs = 1\n")),
             StartsWith("w.toml:16: model.epochs: halving counts steps: give model \"gpt-1\" steps = N instead"));
  CHECK_THAT(refusal(halved("space.steps = { integers = [3, 9] }\n")),
             StartsWith("w.toml:23: model.steps: ") && Contains("train equally long"));
  CHECK_THAT(refusal(halved(of_rate, "steps = 1\n")),
             StartsWith("w.toml:21: search.first: 1 is not below the 1 steps of the models"));
  CHECK_THAT(refusal(with_search(std::string{"kind = \"pbt\"\nsamples = 4\nevery = 3\n"} + of_rate)),
             StartsWith("w.toml:21: search.every: 3 is not below the 3 steps"));
}

TEST_CASE("models that are not evaluated at each rung are refused") {
  const std::string search = std::string{"[search]\nkind = \"hyperband\"\nsamples = 4\nfirst = 4\n"} + of_rate;
  CHECK_THAT(
      refusal(bent("steps = 3\n", "steps = 20\nvalidate = { every_steps = 3 }\n") + search),
      StartsWith("w.toml:17: model.validate.every_steps: gpt-1 is evaluated every 3 steps, but hyperband needs an "
                 "evaluation every 4 steps; every_steps must divide 4"));
  CHECK_THAT(refusal(bent("steps = 3\n", "steps = 20\nvalidate = { every_steps = 8 }\n") + search),
             Contains("every_steps must divide 4"));
}

TEST_CASE("pbt changes keys of optimizer and schedule only") {
  const auto pbt = [](const std::string& space) {
    return refusal(with_search("kind = \"pbt\"\nsamples = 4\nevery = 1\n[search.space]\n" + space));
  };
  CHECK(pbt("learning_rate = { log_uniform = [1e-5, 1e-3] }\nwarmup = { integers = [0, 2] }\n").empty());
  CHECK_THAT(pbt("batch_size = { choice = [4, 8] }\n"),
             StartsWith("w.toml:23: search.space.batch_size: pbt changes models on their way"));
  CHECK_THAT(pbt("optimizer.kind = { choice = [\"adamw\", \"lion\"] }\n"), Contains("but for kind"));
}

TEST_CASE("a search for the best accuracy needs models that have one") {
  const temporary_folder folder;
  const std::string numbers = folder.write("n.csv", "x,y\n1,2\n3,4\n").string();
  const auto assembled = [](const std::string& text) {
    const workload w = parse_workload(text + "[search]\nkind = \"grid\"\nmetric = \"accuracy\"\n", "w.toml");
    session s{w.options};
    assemble(s, w);
  };
  CHECK_NOTHROW(assembled(example + "[model.grid]\nseed = [1, 2]\n"));
  CHECK_THROWS_WITH(assembled(fmt::format(
                        "[[device]]\nkind = \"cpu\"\nmemory = \"24MiB\"\n[data.d]\nkind = \"csv\"\ntrain = \"{0}\"\n"
                        "validation = \"{0}\"\ntarget = \"y\"\nregression = true\n[[model]]\nname = \"m\"\n"
                        "chain = {{ family = \"mlp\", width = 4 }}\ndata = \"d\"\nloss = \"mse\"\nbatch_size = "
                        "1\noptimizer = {{ learning_rate = 1 }}\n"
                        "steps = 2\n[model.grid]\nseed = [1, 2]\n",
                        numbers)),
                    Contains("search.metric: accuracy is given, but m-1 has none"));
}

}  // namespace hydra::apps
