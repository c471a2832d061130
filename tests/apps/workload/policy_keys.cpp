#include "apps/workload/policy_keys.hpp"

#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// [run] of the example with further lines.
std::string run_with(const std::string& lines) { return bent("seed = 7", "seed = 7\n" + lines); }

std::string plugin(const std::string& name) { return hydra::test::test_plugin(name).string(); }

}  // namespace

TEST_CASE("a policy is a name, a table of a name and options, or the path of a plug-in") {
  CHECK(parse_workload(run_with("policy = \"fifo\""), "w.toml").policy.which == "fifo");
  CHECK(parse_workload(run_with("policy = { name = \"fifo\" }"), "w.toml").policy.which == "fifo");
  const auto own = parse_workload(run_with("policy = \"" + plugin("shortest_first") + "\""), "w.toml");
  CHECK(own.policy.which == plugin("shortest_first"));
  const auto w = parse_workload(run_with("plugins = [\"" + plugin("two_policies") + "\"]\n" +
                                         "policy = { name = \"last-candidate\", from_end = 2 }"),
                                "w.toml");
  CHECK(w.policy.which == "last-candidate");
  CHECK(w.policy.options == std::map<std::string, double>{{"from_end", 2}});
  CHECK(w.plugins.at(0).file == plugin("two_policies"));
}

TEST_CASE("paths of plug-ins start at the folder of the file, those of options at the working directory") {
  const temporary_folder folder;
  std::filesystem::create_symlink(plugin("two_policies"), folder.path() / "mine.so");
  const auto file = folder.write("w.toml", run_with("plugins = [\"mine.so\"]\npolicy = \"mine.so:last-candidate\""));
  const auto w = read_workload(file);
  CHECK(w.plugins.at(0).file == folder.path() / "mine.so");
  CHECK(w.policy.which == (folder.path() / "mine.so:last-candidate").string());
  CHECK_THAT(w.expanded, Contains("policy = \"" + w.policy.which + "\""));  // found again from the run folder
  const key_override option{"run.policy", text_value("mine.so", {std::make_shared<std::string>("--policy"), 0})};
  CHECK_THROWS_WITH(read_workload(file, {option}),
                    StartsWith("--policy: run.policy: ") &&
                        Contains((std::filesystem::current_path() / "mine.so").string()) && Contains("no such file"));
}

TEST_CASE("an error of a policy or a plug-in is reported with its place") {
  CHECK_THAT(refusal(run_with("policy = 3")), StartsWith("w.toml:3: run.policy: 3 is given, expected a name"));
  CHECK_THAT(refusal(run_with("policy = { units = 3 }")), StartsWith("w.toml:3: run.policy: a table is given"));
  CHECK_THAT(refusal(run_with("policy = { name = \"fifo\", units = \"3\" }")),
             StartsWith("w.toml:3: run.policy.units: the text \"3\" is given, expected a number"));
  CHECK_THAT(refusal(run_with("policy = { name = \"fifo\", units = 3 }")),
             StartsWith("w.toml:3: run.policy: ") && Contains("there is no option \"units\""));
  CHECK_THAT(refusal(run_with("plugins = \"x.so\"")),
             StartsWith("w.toml:3: run.plugins: ") && Contains("a list of texts"));
  CHECK_THAT(refusal(run_with("plugins = [{ name = \"y.so\" }]")),
             StartsWith("w.toml:3: run.plugins: element 1 of the list: a table is given, expected a text"));
  CHECK_THAT(refusal(run_with("plugins = [\"/nowhere/x.so\"]")),
             StartsWith("w.toml:3: run.plugins: ") && Contains("\"/nowhere/x.so\": there is no such file"));
  CHECK_THAT(refusal(run_with("policy = \"" + plugin("wrong_abi") + "\"")),
             StartsWith("w.toml:3: run.policy: ") && Contains("hydra 99.0.0"));
  CHECK_THAT(refusal(run_with("policy = { name = \"" + plugin("shortest_first") + "\", bonus = -1 }")),
             StartsWith("w.toml:3: run.policy: ") &&
                 Contains("bonus must be a number of at least 0 and at most 3600, got -1"));
}

}  // namespace hydra::apps
