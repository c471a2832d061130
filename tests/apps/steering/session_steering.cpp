#include "apps/steering/session_steering.hpp"

#include "actors/session/session.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

#include <future>
#include <utility>

namespace hydra::apps {

TEST_CASE("a model that is stopped is in the run folder when the command is answered") {
  const temporary_folder folder;
  workload w = parse_workload(bent("steps = 3", "steps = 1000000"), "w.toml");
  w.options.output = folder.path() / "run";
  w.options.log = verbosity::quiet;
  session s{w.options};
  model_opener opener{w};
  assemble(s, w, opener);
  std::promise<void> trains;
  s.on<step_completed>([&trains, first = true](const step_completed&, control&) mutable {
    if (std::exchange(first, false)) trains.set_value();
  });
  session_steering steered{s, w, opener};
  auto run = std::async(std::launch::async, [&s] { return s.run(); });
  trains.get_future().get();
  CHECK_THROWS_WITH(steered.stop("gpd"), Catch::Contains("did you mean \"gpt\""));
  CHECK(read_stopped(w.options.output).empty());
  steered.stop("gpt");
  CHECK(read_stopped(w.options.output) == std::vector<std::string>{"gpt"});
  CHECK(run.get().models[0].status == model_status::stopped);
}

}  // namespace hydra::apps
