#include "apps/commands/shared_options.hpp"

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

outcome train_with(const temporary_folder& folder, const std::string& options) {
  folder.write("w.toml", example);
  return run_hydra(folder, "train w.toml --quiet " + options);
}

}  // namespace

TEST_CASE("--set may be repeated, before and after the file, and the run folder records what was run") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const outcome o = run_hydra(folder, "train --set model.steps=2 w.toml --quiet --set run.seed=3 --set device.count=2");
  CHECK(o.err.empty());
  REQUIRE(o.status == 0);
  CHECK_THAT(folder.read("runs/w/workload.toml"),
             Contains("steps = 2") && Contains("seed = 3") && Contains("count = 2"));
  CHECK_THAT(folder.read("runs/w/report.json"), Contains("\"seed\": 3") && Contains("\"cpu:1\""));
}

TEST_CASE("garbage after --set ends with status 2, names --set and leaves no folder") {
  const temporary_folder folder;
  for (const char* set : {"nonsense", "''", "=3", "run..seed=3", "run.seed=", "'run.seed=[1'", "run.sed=3",
                          "model.stpes=3", "model.gtp.steps=3", "run.seed.low=3", "model.steps=many", "model.steps=0",
                          "data.langage.tokens=3", "device=3"}) {
    const outcome o = train_with(folder, std::string{"--set "} + set);
    INFO(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, StartsWith("--set "));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  }
}

TEST_CASE("--set without a value is a wrong command line") {
  const temporary_folder folder;
  const outcome o = train_with(folder, "--set");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("--set") && Contains("--help"));
}

}  // namespace hydra::apps
