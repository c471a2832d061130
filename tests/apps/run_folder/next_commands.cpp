#include "apps/run_folder/next_commands.hpp"

#include "apps/workload/workload.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

namespace {

/// A run of the example, of which the model is saved in folders of these names.
std::filesystem::path run_with(const temporary_folder& folder, const std::vector<std::string>& checkpoints,
                               const std::string& text = example) {
  std::filesystem::create_directories(folder.path() / "run/checkpoints/gpt");
  folder.write("run/workload.toml", parse_workload(text, "w.toml").expanded);
  for (const auto& name : checkpoints)
    std::filesystem::create_directories(folder.path() / "run/checkpoints/gpt" / name);
  return folder.path() / "run";
}

/// Best after 2 of 3 steps.
model_report gpt() {
  model_report m;
  m.name = "gpt";
  m.steps = 3;
  m.validation = {{.step = 2, .loss = 1}, {.step = 3, .loss = 2}};
  return m;
}

}  // namespace

TEST_CASE("a model that is saved is exported into a folder beside the run's, and continues a text") {
  const temporary_folder folder;
  const auto run = run_with(folder, {"000001-step-3"});
  const std::string where = run.string();
  CHECK(next_commands(run, gpt()) ==
        std::vector<std::string>{"hydra export " + where + " gpt " + where + "-gpt",
                                 "hydra generate " + where + " --model gpt --prompt-ids \"1 2 3\""});
  CHECK(note_on_state(run, gpt()) ==
        "the state after step 2 is not kept (validate.keep_best keeps it): this is the one after step 3");
}

TEST_CASE("the best state is exported where it is kept") {
  const temporary_folder folder;
  const auto run = run_with(folder, {"000001-step-3", "best-step-2"});
  const auto next = next_commands(run, gpt());
  REQUIRE(next.size() == 2);
  CHECK_THAT(next[0], Catch::EndsWith("-gpt --best"));
  CHECK_THAT(next[1], Catch::Contains(" --best --prompt-ids"));
  CHECK(note_on_state(run, gpt()).empty());
}

TEST_CASE("a model of conversations is asked by a message") {
  const temporary_folder folder;
  const auto file = folder.write("talks.jsonl", "{}").string();
  const auto talks = bent("synthetic-language\"", "chat\"\ntrain = \"" + file + "\"\ntemplate = \"chatml\"");
  CHECK_THAT(next_commands(run_with(folder, {"000001-step-3"}, talks), gpt()).back(),
             Catch::EndsWith(" --model gpt --chat \"...\""));
}

TEST_CASE("nothing is proposed for a model that is not saved, or a run that cannot be read") {
  const temporary_folder folder;
  CHECK(next_commands(run_with(folder, {}), gpt()).empty());
  CHECK(note_on_state(folder.path() / "run", gpt()).empty());
  CHECK(next_commands(folder.path() / "none", gpt()).empty());
}

}  // namespace hydra::apps
