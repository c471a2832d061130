#include "apps/commands/after_interrupt.hpp"

#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace hydra::apps {

TEST_CASE("a run that is interrupted before it has a folder is not continued; one that has a folder is, by a command") {
  const temporary_folder folder;
  session_options run;
  run.output = folder.path() / "run";
  const auto told = [&] { return after_interrupt("interrupted", run, "hydra train w.toml --resume"); };
  CHECK(told() == "interrupted; there is nothing to continue");
  std::filesystem::create_directory(run.output);
  CHECK(told() == "interrupted; to continue: hydra train w.toml --resume");
  run.checkpoint.keep = 0;
  CHECK(told() == "interrupted; nothing was saved, because run.checkpoint.keep is 0");
}

}  // namespace hydra::apps
