#include "apps/workload/grid.hpp"

#include "apps/workload/model_keys.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps::grid_test {

using Catch::Contains;
using Catch::StartsWith;

std::string with_grid(const std::string& grid, const std::string& name = "gpt") {
  return bent("name = \"gpt\"", "name = \"" + name + "\"") + "[model.grid]\n" + grid;
}

std::vector<std::string> names(const std::string& text) {
  std::vector<std::string> all;
  for (const model_entry& m : parse_workload(text, "w.toml").models) all.push_back(m.description.name);
  return all;
}

std::string grid_refusal(const std::string& grid, const std::string& name = "gpt") {
  return refusal(with_grid(grid, name));
}

TEST_CASE("a grid makes every combination, the last key fastest, in the order of the file") {
  const workload w = parse_workload(with_grid("learning_rate = [1e-3, 3e-4]\nbatch_size = [4, 8, 16]\n"), "w.toml");
  std::vector<std::pair<double, std::uint32_t>> found;
  for (const model_entry& m : w.models)
    found.emplace_back(m.description.optimizer.learning_rate, m.description.batch_size);
  CHECK(found == std::vector<std::pair<double, std::uint32_t>>{
                     {1e-3, 4}, {1e-3, 8}, {1e-3, 16}, {3e-4, 4}, {3e-4, 8}, {3e-4, 16}});
}

TEST_CASE("models of a grid take the place of the model") {
  const std::string second =
      "[[model]]\nname = \"last\"\nchain = { family = \"mlp\", width = 4 }\ndata = \"language\"\nbatch_size = 1\nsteps "
      "= 1\noptimizer = { learning_rate = 1 }\n";
  CHECK(names(with_grid("seed = [1, 2]\n") + second) == std::vector<std::string>{"gpt-1", "gpt-2", "last"});
}

TEST_CASE("numbers in names are written as in the file") {
  CHECK(names(with_grid("learning_rate = [1.0e-3, 3E-4, 0.10]\n", "m-{learning_rate}")) ==
        std::vector<std::string>{"m-1.0e-3", "m-3E-4", "m-0.10"});
  CHECK(names(with_grid("batch_size = [1_0, 0x10]\n", "b{batch_size}")) == std::vector<std::string>{"b1_0", "b0x10"});
}

TEST_CASE("numbers after characters of several bytes are as written") {
  const std::string text = bent("[data.language]", "[data.\"\u00E9\"]");
  const std::string line = "grid = { data = [\"\u00E9\"], seed = [10, 20] }\n";
  CHECK(names(text + line) == std::vector<std::string>{"gpt-\u00E9-10", "gpt-\u00E9-20"});
}

TEST_CASE("a name with braces is refused where no grid would fill them in") {
  CHECK_THAT(refusal(bent("name = \"gpt\"", "name = \"m{seed}\"")),
             StartsWith("w.toml:12: model.name: \"m{seed}\" has braces") && Contains("add the grid"));
  CHECK_THAT(refusal(bent("name = \"gpt\"", "name = \"m}\"")), StartsWith("w.toml:12: model.name: "));
}

TEST_CASE("a name without braces gets the values appended") {
  CHECK(names(with_grid("batch_size = [4, 8]\nlearning_rate = [1e-3, 3e-4]\n")) ==
        std::vector<std::string>{"gpt-4-1e-3", "gpt-4-3e-4", "gpt-8-1e-3", "gpt-8-3e-4"});
}

TEST_CASE("texts, booleans and lists can be varied") {
  CHECK(names(with_grid("on_nan = [\"stop\", \"ignore\"]\n")) == std::vector<std::string>{"gpt-stop", "gpt-ignore"});
  CHECK(names(with_grid("tied = [true, false]\n")) == std::vector<std::string>{"gpt-true", "gpt-false"});
  CHECK(names(with_grid("cuts = [[0], [0, 2]]\n")) == std::vector<std::string>{"gpt-0", "gpt-0-2"});
}

TEST_CASE("a grid's key may be a dotted path, quoted or not, and a leaf deeper down") {
  for (const char* key : {"optimizer.learning_rate", "\"optimizer.learning_rate\"", "learning_rate"}) {
    const workload w = parse_workload(with_grid(std::string{key} + " = [2, 3]\n", "m{learning_rate}"), "w.toml");
    REQUIRE(w.models.size() == 2);
    CHECK(w.models[1].description.optimizer.learning_rate == 3);
    CHECK(w.models[1].description.name == "m3");
  }
}

TEST_CASE("models of different families in one workload have grids of their own, with dotted keys") {
  const std::string classes = R"(
[data.classes]
kind = "synthetic-classes"
[[model]]
name = "mlp-{chain.width}"
chain = { family = "mlp" }
data = "classes"
batch_size = 8
steps = 2
optimizer = { kind = "sgd", learning_rate = 1 }
[model.grid]
chain.width = [4, 8]
"optimizer.momentum" = [0.9]
)";
  const workload w =
      parse_workload(with_grid("chain.layers = [1, 2]\noptimizer.learning_rate = [1e-3]\n") + classes, "w");
  std::vector<std::string> made;
  for (const model_entry& m : w.models) made.push_back(m.description.name + " " + m.description.chain.family);
  CHECK(made == std::vector<std::string>{"gpt-1-1e-3 gpt2", "gpt-2-1e-3 gpt2", "mlp-4 mlp", "mlp-8 mlp"});
  CHECK(w.models[3].description.optimizer.momentum == 0.9);
}

TEST_CASE("a key of a grid that the model's family does not have is refused where it is in the grid") {
  CHECK_THAT(grid_refusal("\"optimizer.momentum\" = [0.9]\n"),
             StartsWith("w.toml:19: model.optimizer.momentum: ") && Contains("belongs to kind \"sgd\""));
}

TEST_CASE("a placeholder may be the dotted path") {
  CHECK(names(with_grid("learning_rate = [2, 3]\n", "m{optimizer.learning_rate}")) ==
        std::vector<std::string>{"m2", "m3"});
}

TEST_CASE("a required key may come from the grid alone, with its table") {
  const std::string text =
      bent("steps = 3\noptimizer = { learning_rate = 1e-3 }\n", "[model.grid]\nlearning_rate = [1, 2]\nsteps = [5]\n");
  const workload w = parse_workload(text, "w.toml");
  REQUIRE(w.models.size() == 2);
  CHECK(w.models[1].description.optimizer.learning_rate == 2);
  CHECK(w.models[1].description.steps == 5);
}

TEST_CASE("a plain key wins over leaves of the same name") {
  const table_rules inner{.keys = {{.name = "seed"}, {.name = "layers"}}};
  const table_rules rules{.keys = {{.name = "seed"}, {.name = "chain", .kind = value_kind::table, .inner = {inner}}}};
  CHECK(resolve_grid_key({}, "seed", rules) == "seed");
  CHECK(resolve_grid_key({}, "chain.seed", rules) == "chain.seed");
  CHECK(resolve_grid_key({}, "layers", rules) == "chain.layers");
}

TEST_CASE("an option of two families is one leaf") {
  CHECK(resolve_grid_key({}, "layers", model_rules()) == "chain.layers");
}

TEST_CASE("an ambiguous leaf of a grid is refused with its paths") {
  CHECK_THAT(grid_refusal("kind = [\"linear\"]\n"), StartsWith("w.toml:19: model.grid.kind: ambiguous") &&
                                                        Contains("optimizer.kind") && Contains("schedule.kind"));
}

TEST_CASE("an unknown key of a grid is refused with the nearest one") {
  CHECK_THAT(grid_refusal("learning_rat = [1]\n"),
             StartsWith("w.toml:19: model.grid.learning_rat: unknown key") && Contains("\"learning_rate\""));
  CHECK_THAT(grid_refusal("optimiser.learning_rate = [1]\n"),
             StartsWith("w.toml:19: ") && Contains("here it is model.optimizer.learning_rate"));
}

TEST_CASE("a grid's values must be a list that is not empty, without tables") {
  CHECK_THAT(grid_refusal("seed = 3\n"), StartsWith("w.toml:19: model.grid.seed: 3 ") && Contains("list of one value"));
  CHECK_THAT(grid_refusal("seed = []\n"), StartsWith("w.toml:19: model.grid.seed: ") && Contains("list of one value"));
  CHECK_THAT(grid_refusal("seed = [{ a = 1 }]\n"), StartsWith("w.toml:19: model.grid.seed: a table"));
  CHECK_THAT(refusal(example + "grid = 3\n"), StartsWith("w.toml:18: model.grid: 3 "));
}

TEST_CASE("a grid may not vary a key twice") {
  CHECK_THAT(grid_refusal("learning_rate = [1]\noptimizer.learning_rate = [2]\n"),
             StartsWith("w.toml:20: ") && Contains("varied twice"));
}

TEST_CASE("a grid may not vary the name") {
  CHECK_THAT(grid_refusal("name = [\"a\"]\n"), StartsWith("w.toml:19: model.grid.name: unknown key"));
}

TEST_CASE("a grid of too many models is refused before it is expanded") {
  std::string hundred = "[0";
  for (int i = 1; i < 101; ++i) hundred += ", " + std::to_string(i);
  hundred += "]\n";
  CHECK_THAT(grid_refusal("seed = " + hundred + "steps = " + hundred),
             StartsWith("w.toml:18: model.grid: more than 10000"));
}

TEST_CASE("a placeholder that is not a key of the grid is refused") {
  CHECK_THAT(grid_refusal("seed = [1]\n", "m{sed}"),
             StartsWith("w.toml:12: model.name: {sed}") && Contains("\"seed\""));
  CHECK_THAT(grid_refusal("seed = [1]\n", "m{seed"), StartsWith("w.toml:12: model.name: "));
}

TEST_CASE("names that a grid's placeholders do not distinguish are refused") {
  CHECK_THAT(grid_refusal("seed = [1, 2]\nbatch_size = [4]\n", "m{batch_size}"),
             StartsWith("w.toml:12: model.name: \"m4\" is used twice"));
  CHECK_THAT(grid_refusal("seed = [1, 1]\n"), StartsWith("w.toml:12: model.name: \"gpt-1\" is used twice"));
}

TEST_CASE("a wrong value of a grid is refused where it is in the grid") {
  CHECK_THAT(grid_refusal("seed = [1]\nbatch_size = [4,\n0]\n"), StartsWith("w.toml:21: model.batch_size: 0 "));
}

}  // namespace hydra::apps::grid_test
