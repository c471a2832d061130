// Models that are added to a workload, and what the run folder has of them.

#include "apps/run_folder/added_models.hpp"

#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

using Catch::Contains;

namespace {

const std::string more = R"([[model]]
name = "more-{steps}"
chain = { family = "gpt2", layers = 2, width = 8, heads = 2, context = 4 }
data = "language"
batch_size = 4
optimizer = { learning_rate = 1e-3 }
[model.grid]
steps = [5, 6]
)";

const std::string given{given_workload};

std::vector<std::string> names_of(const workload& w) {
  std::vector<std::string> all;
  for (const model_entry& m : w.models) all.push_back(m.description.name);
  return all;
}

}  // namespace

TEST_CASE("models that are added come last, as a grid has them, and stand in the workload as it was run") {
  const workload w = parse_workload(example, "w.toml");
  const workload all = with_models(w, parse_models(more, given));
  CHECK(names_of(all) == std::vector<std::string>{"gpt", "more-5", "more-6"});
  CHECK(all.models.back().description.steps == 6);
  CHECK(parse_workload(all.expanded, "w.toml").models.size() == 3);
  CHECK(all.options.name == w.options.name);
}

TEST_CASE("models that are added are not trials of a search, whatever steps they have") {
  const std::string search =
      "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\nspace.learning_rate = { log_uniform = [1e-5, "
      "1e-3] }\n";
  const workload w = parse_workload(example + search, "w.toml");
  const workload all = with_models(w, parse_models(more, given));
  REQUIRE(all.search);
  CHECK(all.search->trials.size() == w.search->trials.size());
  CHECK(all.models.size() == w.models.size() + 2);
}

TEST_CASE("what cannot be added is refused with its place") {
  const workload w = parse_workload(example, "w.toml");
  CHECK_THROWS_WITH(parse_models("[data.d]\nkind = \"synthetic-classes\"\n", given),
                    Contains("the workload given, line 1: data: only [[model]] tables can be added"));
  CHECK_THROWS_WITH(parse_models("", given), Contains("the workload given, line 1: model: at least one is needed"));
  CHECK_THROWS_WITH(parse_models("[[model]\n", given), Contains("the workload given, line 1: "));
  auto twice = parse_models(more, given);
  twice.push_back(twice.front());
  CHECK_THROWS_WITH(with_models(w, twice), Contains("\"more-5\" is used twice"));
}

TEST_CASE("a run folder gives back the models that were recorded there, and forgets those that are taken back") {
  const temporary_folder folder;
  CHECK(read_added(folder.path()).empty());
  record_added(folder.path(), parse_models(more, given));
  workload w = parse_workload(example, "w.toml");
  w.options.output = folder.path();
  CHECK(names_of(with_added(w)) == std::vector<std::string>{"gpt", "more-5", "more-6"});
  record_added(folder.path(), {});
  CHECK(!std::filesystem::exists(folder.path() / added_file));
  CHECK(names_of(with_added(w)) == std::vector<std::string>{"gpt"});
}

}  // namespace hydra::apps
