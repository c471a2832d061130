// Policies of plug-ins in real runs: good ones decide, bad ones are refused before anything starts or replaced during
// the run, and the results are the same.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

namespace hydra::apps::plugins_test {

using Catch::Contains;
using Catch::StartsWith;

std::string plugin(const std::string& name) { return hydra::test::test_plugin(name).string(); }

struct finished_run {
  outcome said;
  nlohmann::json report;
};

finished_run train_with(const std::string& policy) {
  const temporary_folder folder;
  folder.write("w.toml", example);
  finished_run r{run_hydra(folder, "train w.toml --details --output there --policy " + policy), {}};
  INFO(r.said.err);
  REQUIRE(r.said.status == 0);
  r.report = nlohmann::json::parse(folder.read("there/report.json"));
  return r;
}

/// Names of policies and the expected messages.
std::vector<std::pair<std::string, std::string>> bad_policies() {
  return {{"throwing", "it fails: a decision throws: the stars are not right"},
          {"blocking", "a decision takes longer than 100.0 ms"},
          {"foreign_index", "policy foreign-index chose candidate "},
          {"silent", "stays silent"}};
}

std::string digest(const finished_run& r) { return r.report["models"][0]["digest"]; }

TEST_CASE("hydra trains under the policy of a plug-in, with the bits of any other policy") {
  const std::string trusted = " --set run.trusted_policy=true";  // else it has 100 ms, also on a busy machine
  const auto r = train_with(plugin("shortest_first") + trusted);
  CHECK(r.report["policy"] == "shortest-first");
  CHECK(r.report["scheduling"]["replaced"] == 0);
  CHECK(train_with(plugin("two_policies") + ":last-candidate" + trusted).report["policy"] == "last-candidate");
  const auto asked = train_with(plugin("shortest_first"));
  CHECK(asked.report["policy"] == (asked.report["scheduling"]["replaced"] == 0 ? "shortest-first" : "sharded-lrtf"));
  CHECK(digest(r) == digest(train_with("fifo")));
  CHECK(digest(asked) == digest(r));
}

TEST_CASE("a trusted policy of a plug-in is asked in place, and replaced if it throws; no other one can be trusted") {
  const temporary_folder folder;
  const auto train = [&](const std::string& policy) {
    folder.write("w.toml", bent("seed = 7", "seed = 7\ntrusted_policy = true"));
    return run_hydra(folder, "train w.toml --quiet --output there-" + policy.substr(policy.rfind('/') + 1) +
                                 " --policy " + policy);
  };
  CHECK(train(plugin("shortest_first")).status == 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.is_directory()) CHECK(run_hydra(folder, "evaluate " + entry.path().filename().string()).status == 0);
  const auto thrown = train(plugin("throwing"));
  CHECK(thrown.status == 0);
  CHECK_THAT(thrown.err, Contains("was replaced by sharded-lrtf") && Contains("the stars are not right"));
  const auto own = train("fifo");
  CHECK(own.status == 2);
  CHECK_THAT(own.err, Contains("'fifo' is built in, and decides in place: only a plug-in's policy can be trusted"));
}

TEST_CASE("a policy that throws, blocks, answers nonsense or nothing is replaced, and the results are the same") {
  const auto expected = digest(train_with("fifo"));
  for (const auto& [name, why] : bad_policies()) {
    INFO(name);
    const auto r = train_with(plugin(name));
    CHECK(digest(r) == expected);
    CHECK(r.report["policy"] == "sharded-lrtf");
    CHECK(r.report["scheduling"]["replaced"] == 1);
    CHECK_THAT(r.report["notes"][0].get<std::string>(), Contains("was replaced by sharded-lrtf: ") && Contains(why));
    CHECK_THAT(r.said.err, Contains("note: policy ") && Contains(why));
    CHECK_THAT(r.said.out, Contains("policy sharded-lrtf (replaced 1 that failed)"));
  }
}

TEST_CASE(
    "a simulated policy that throws, blocks, answers nonsense or nothing is reported with its reason by both drivers") {
  const temporary_folder folder;
  const std::string generated = "--generate equal:models=3,devices=2,length=0.05 --policies ";
  for (const auto& [name, why] : bad_policies())
    for (const std::string driver : {"actors", "loop"}) {
      INFO(name << ", " << driver);
      const std::string arguments = "simulate " + generated + plugin(name) + " --driver " + driver;
      const auto j = nlohmann::json::parse(run_hydra(folder, arguments + " --json").out);
      REQUIRE(j["rows"][0]["replacements"].size() == 1);
      CHECK_THAT(j["rows"][0]["replacements"][0].get<std::string>(),
                 StartsWith("policy ") && Contains(" was replaced by sharded-lrtf: ") && Contains(why));
      CHECK_THAT(run_hydra(folder, arguments).out, Contains(" was replaced by sharded-lrtf: "));
    }
}

TEST_CASE("a good plug-in is simulated by both drivers, by its file and by its name") {
  const temporary_folder folder;
  for (const std::string driver : {"actors", "loop"}) {
    const outcome o = run_hydra(folder, "simulate --generate equal:models=3,devices=2,length=0.05 --plugin " +
                                            plugin("shortest_first") +
                                            " --policies 'shortest-first(bonus=5),srtf' --json --driver " + driver);
    INFO(o.err);
    REQUIRE(o.status == 0);
    const auto j = nlohmann::json::parse(o.out);
    CHECK(j["rows"][0]["policy"] == "shortest-first(bonus=5)");
    CHECK_FALSE(j["rows"][0].contains("replacements"));
  }
}

TEST_CASE("a study and a simulated workload report replaced policies, too") {
  const temporary_folder folder;
  folder.write("s.toml", "policies = [\"" + plugin("throwing") +
                             "\"]\n[[cell]]\nname = \"a\"\nfamily = \"equal\"\nmodels = 2\nlength = 0.05\n");
  const outcome study = run_hydra(folder, "study s.toml --quiet --output there");
  INFO(study.err);
  REQUIRE(study.status == 0);
  const std::string reason = "policy throwing was replaced by sharded-lrtf: it fails";
  CHECK_THAT(study.out, Contains(reason));
  for (const char* file : {"study.csv", "study.json", "study.html"})
    CHECK_THAT(folder.read(std::filesystem::path{"there"} / file), Contains(reason));
  folder.write("w.toml", example);
  CHECK_THAT(run_hydra(folder, "simulate w.toml --policies " + plugin("throwing")).out, Contains(reason));
}

TEST_CASE("a run is simulated again with the policy it was started with, its options and its plug-in") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output good --policy " + plugin("shortest_first") +
                                " --set run.seed=7").status == 0);
  const std::string given = " --plugin " + plugin("shortest_first");
  CHECK_THAT(run_hydra(folder, "simulate good" + given).out,
             Contains("\nshortest-first ") && Contains("with shortest-first; simulated, "));
  const outcome foreign = run_hydra(folder, "simulate good");
  CHECK(foreign.status == 2);
  CHECK_THAT(foreign.err,
             Contains("the folder names \"" + plugin("shortest_first") + "\"") && Contains("--plugin FILE"));
  CHECK(run_hydra(folder, "evaluate good").status == 0);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output bad --policy " + plugin("throwing")).status == 0);
  const outcome o = run_hydra(folder, "simulate bad --plugin " + plugin("throwing"));
  CHECK_THAT(o.out, Contains("\nthrowing ") &&
                        Contains("during the run, the run's policy throwing was replaced by sharded-lrtf: it fails"));
}

TEST_CASE("a policy that is an actor is simulated by its answers") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output there --policy " + plugin("thoughtful")).status == 0);
  const outcome o = run_hydra(folder, "simulate there --plugin " + plugin("thoughtful"));
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("\nthoughtful ") && !Contains("replaced"));
  const std::string recipe = "simulate --generate hetero:models=3,devices=2,length=0.05 --json --driver loop --policies ";
  const auto rows = nlohmann::json::parse(run_hydra(folder, recipe + "sharded-lrtf," + plugin("thoughtful")).out)["rows"];
  CHECK(rows[1]["makespan_us"] == rows[0]["makespan_us"]);
  CHECK(rows[1]["decisions"] == rows[0]["decisions"]);
}

TEST_CASE("a plug-in that cannot be used ends with status 2 before anything was made") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  for (const std::string name :
       {"wrong_abi", "no_entry_point", "null_table", "unresolved", "unknown_kind", "only_a_layer", "none"}) {
    INFO(name);
    const outcome o = run_hydra(folder, "train w.toml --quiet --policy " + plugin(name));
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Catch::StartsWith("--policy: run.policy: plug-in \"") && Contains(name + ".so\": "));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
  }
}

TEST_CASE("hydra policies lists what plug-ins offer, with their options") {
  const temporary_folder folder;
  const outcome o =
      run_hydra(folder, "policies --plugin " + plugin("shortest_first") + " --plugin " + plugin("two_policies"));
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out, Contains("shortest-first") && Contains("small models finish early") &&
                        Contains("(shortest_first.so)") && Contains("bonus = 0 (0 to 3600)") &&
                        Contains("last-candidate") && Contains("fifo"));
  CHECK(run_hydra(folder, "policies --plugin " + plugin("wrong_abi")).status == 2);
}

}  // namespace hydra::apps::plugins_test
