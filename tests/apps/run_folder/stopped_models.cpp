#include "apps/run_folder/stopped_models.hpp"

#include "runtime/base/fault.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;

namespace {

using model_names = std::vector<std::string>;

}  // namespace

TEST_CASE("a run folder gives back the models that were stopped, each once") {
  const temporary_folder folder;
  CHECK(read_stopped(folder.path()).empty());
  {
    stopped_models stopped{folder.path()};
    for (const char* name : {"gpt \"a\"", "gpt-b", "gpt \"a\""}) stopped.add(name);
    CHECK(read_stopped(folder.path()) == model_names{"gpt \"a\"", "gpt-b"});
  }
  stopped_models resumed{folder.path()};
  resumed.add("gpt-c");
  resumed.remove("gpt-b");
  resumed.remove("gpt-b");
  CHECK(read_stopped(folder.path()) == model_names{"gpt \"a\"", "gpt-c"});
}

TEST_CASE("a stop that cannot be recorded says what that means, and is recorded with the next one if it can be then") {
  const temporary_folder folder;
  const auto run = folder.path() / "run";
  stopped_models stopped{run};
  CHECK_THROWS_WITH(stopped.add("gpt-a"),
                    Contains("gpt-a is being stopped, but if the run is killed before it has ended") &&
                        Contains("run/stopped.toml: No such file"));
  std::filesystem::create_directory(run);
  stopped.add("gpt-a");
  CHECK(read_stopped(run) == model_names{"gpt-a"});
}

TEST_CASE("a record of stopped models that is none is refused with its name and what is expected") {
  const temporary_folder folder;
  for (const char* text : {"", "models = 3\n", "models = [3]\n", "stopped = [\"a\"]\n"}) {
    folder.write(stopped_file, text);
    INFO(text);
    CHECK_THROWS_WITH(read_stopped(folder.path()), Contains("stopped.toml: models = [NAME, ...] is expected"));
  }
  folder.write(stopped_file, "models = [\n");
  CHECK_THROWS_WITH(read_stopped(folder.path()), Contains("stopped.toml:") && Contains("not valid TOML"));
}

}  // namespace hydra::apps
