// Code that a run folder names: it may come from somebody else, and is not run.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace hydra::apps {

using Catch::Contains;

namespace {

namespace fs = std::filesystem;

/// A finished run, whose files can be made to name a plug-in in the same folder.
class foreign_run {
 public:
  foreign_run() {
    folder_.write("w.toml", example);
    REQUIRE(run_hydra(folder_, "train w.toml --quiet --output there").status == 0);
    fs::copy_file(hydra::test::test_plugin("marking"), plugin());
    workload_ = folder_.read("there/workload.toml");
    report_ = folder_.read("there/report.json");
  }

  fs::path plugin() const { return folder_.path() / "there/p.so"; }

  /// Lines in its [run], and tables before that.
  void name_by(const std::string& lines, const std::string& tables = "") const {
    std::string text = workload_;
    folder_.write("there/workload.toml", tables + text.insert(text.find("[run]\n") + 6, lines + "\n"));
  }
  void report_policy(const std::string& name) const {
    auto report = nlohmann::ordered_json::parse(report_);
    report.at("policy") = name;
    folder_.write("there/report.json", report.dump());
  }

  /// Its messages; `status`: the exit status that is expected.
  std::string tell(const std::string& command, int status) const {
    const outcome o = run_hydra(folder_, command);
    INFO(command << "\n" << o.err);
    CHECK(o.status == status);
    return o.err;
  }
  bool has_run() const { return fs::exists(folder_.path() / "mark"); }

 private:
  temporary_folder folder_;
  std::string workload_, report_;
};

}  // namespace

TEST_CASE("what gets a run folder runs no code that the folder names, what gets a workload file does") {
  const foreign_run run;
  const auto simulation_names_plugin = [&run] {
    CHECK_THAT(run.tell("simulate there", 2),
               Contains("the folder names \"" + run.plugin().string() + "\"") && Contains("--plugin FILE"));
  };
  run.name_by("plugins = [\"p.so\"]\npolicy = \"p.so\"");
  for (const char* command : {"report there", "evaluate there", "export there gpt out"}) run.tell(command, 0);
  run.tell("generate there --prompt-ids 1 --tokens 1", 0);
  simulation_names_plugin();
  run.name_by("policy = { name = \"fifo\", \"a=1)," + run.plugin().string() + "(b\" = 1 }");
  run.tell("simulate there", 2);
  run.name_by("plugins = [\"p.so\"]");
  run.report_policy(run.plugin().string());
  simulation_names_plugin();
  run.name_by("plugins = [\"p.so\"]", "[search]\nkind = \"own\"\nrule = \"p.so\"\n");
  run.tell("evaluate there", 0);
  CHECK_FALSE(run.has_run());
  run.tell("plan there/workload.toml", 2);
  CHECK(run.has_run());
}

}  // namespace hydra::apps
