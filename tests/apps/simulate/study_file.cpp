#include "apps/simulate/study_file.hpp"

#include "apps/simulate/recipe_keys.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace hydra::apps {

TEST_CASE("the shipped studies can be read, and every first instance of a cell made") {
  std::size_t found = 0;
  for (const auto& file :
       std::filesystem::directory_iterator{std::filesystem::path{HYDRA_SOURCE_DIR} / "apps/studies"}) {
    if (file.path().extension() != ".toml") continue;
    const study s = read_study(file.path());
    CHECK(s.cells.size() > 3);
    for (const study_cell& cell : s.cells) {
      INFO(cell.name);
      if (cell.recipe->units == 2000 && cell.recipe->models <= 24)
        CHECK(instance_of(cell, 0).models.size() == cell.recipe->models);
    }
    ++found;
  }
  CHECK(found >= 2);
}

TEST_CASE("files of a cell are matched as a shell matches them, in the order of their names") {
  const test::temporary_folder folder;
  const auto instance = std::filesystem::path{HYDRA_SOURCE_DIR} / "apps/instances/few-1x2.json";
  for (const char* name : {"b2.json", "b1.json", "b10.json", "a1.json", ".b3.json"})
    std::filesystem::copy_file(instance, folder.path() / name);
  const auto names = [&](const std::string& pattern) {
    const study s = parse_study(
        "[[cell]]\nname = \"a\"\nfiles = [\"" + (folder.path() / pattern).string() + "\"]\n", "s.toml");
    std::vector<std::string> all;
    for (const auto& file : s.cells.at(0).files) all.push_back(file.filename().string());
    return all;
  };
  CHECK(names("*.json") == std::vector<std::string>{"a1.json", "b1.json", "b10.json", "b2.json"});
  CHECK(names("b?.json") == std::vector<std::string>{"b1.json", "b2.json"});
  CHECK(names("[ab]1.json") == std::vector<std::string>{"a1.json", "b1.json"});
}

TEST_CASE("generated instances of a cell have its seed and the ones after it") {
  const study s =
      parse_study("repeat = 2\n[[cell]]\nname = \"a\"\nfamily = \"hetero\"\nlength = 0.1\nseed = 5\n", "s.toml");
  REQUIRE(count_instances(s.cells.at(0)) == 2);
  CHECK(instance_of(s.cells[0], 0).name == "hetero:length=0.1,seed=5");
  CHECK(instance_of(s.cells[0], 1).name == "hetero:length=0.1,seed=6");
}

TEST_CASE("a recipe on the command line has the keys of a cell, and its text makes the same one again") {
  const auto r = parse_recipe("skewed:models=3,speeds=1x1+2x0.5,rho=0.25,slots=3,prefetch=false,noise=0.1,seed=8");
  CHECK(r.family == instance_family::skewed);
  CHECK(r.models == 3);
  CHECK(r.speeds == std::vector<double>{1, 0.5, 0.5});
  CHECK(r.rho == 0.25);
  CHECK(r.slots == 3);
  CHECK_FALSE(r.prefetch);
  CHECK(r.noise == 0.1);
  CHECK(to_string(parse_recipe(to_string(r))) == to_string(r));
  CHECK(to_string(parse_recipe("paper")) == "paper");
}

TEST_CASE("drivers and the rule of completion are read, and the loop is the default") {
  const std::string cell = "[[cell]]\nname = \"a\"\nfamily = \"equal\"\n";
  CHECK(parse_study(cell, "s.toml").drivers.at(0).driver == simulation_driver::loop);
  const auto both =
      parse_study("drivers = [\"actors\", \"loop\"]\ncompletion = \"landed\"\nseed = 3\n" + cell, "s.toml").drivers;
  REQUIRE(both.size() == 2);
  CHECK(both[0].driver == simulation_driver::actors);
  CHECK(both[1].completion == completion_rule::written_back);
  CHECK(both[1].seed == 3);
}

}  // namespace hydra::apps
