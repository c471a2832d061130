// Policies of plug-ins in real runs: good ones decide, bad ones are refused before anything starts or replaced in the
// middle, and the numbers stay.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;

namespace {

std::string plugin(const std::string& name) { return hydra::test::test_plugin(name).string(); }

struct finished_run {
  outcome said;
  nlohmann::json report;
};

finished_run train_with(const std::string& policy) {
  const temporary_folder folder;
  folder.write("w.toml", example);
  finished_run r{run_hydra(folder, "train w.toml --output there --policy " + policy), {}};
  INFO(r.said.err);
  REQUIRE(r.said.status == 0);
  r.report = nlohmann::json::parse(folder.read("there/report.json"));
  return r;
}

std::string digest(const finished_run& r) { return r.report["models"][0]["digest"]; }

}  // namespace

TEST_CASE("hydra trains under the policy of a plug-in, with the bits of any other policy") {
  const auto r = train_with(plugin("shortest_first"));
  CHECK(r.report["policy"] == "shortest-first");
  CHECK(r.report["scheduling"]["replaced"] == 0);
  CHECK(digest(r) == digest(train_with("fifo")));
  CHECK(train_with(plugin("two_policies") + ":last-candidate").report["policy"] == "last-candidate");
}

TEST_CASE("a policy that throws, blocks, answers nonsense or nothing is replaced, and the results are the same") {
  const auto expected = digest(train_with("fifo"));
  const std::vector<std::pair<std::string, std::string>> bad{
      {"throwing", "it fails: a decision throws: the stars are not right"},
      {"blocking", "a decision takes longer than 100.0 ms"},
      {"foreign_index", "policy foreign-index chose candidate 1 of 1"},
      {"silent", "stays silent"}};
  for (const auto& [name, why] : bad) {
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

TEST_CASE("a plug-in that cannot be used ends with status 2 before anything was made") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  for (const std::string name : {"wrong_abi", "no_entry_point", "null_table", "unresolved", "unknown_kind", "only_a_layer", "none"}) {
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
  const outcome o = run_hydra(folder, "policies --plugin " + plugin("shortest_first") + " --plugin " + plugin("two_policies"));
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out, Contains("shortest-first  small models finish early") && Contains("(shortest_first.so)") &&
                        Contains("bonus = 0 (0 to 3600)") && Contains("last-candidate") && Contains("fifo"));
  CHECK(run_hydra(folder, "policies --plugin " + plugin("wrong_abi")).status == 2);
}

}  // namespace hydra::apps
