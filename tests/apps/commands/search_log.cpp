#include "apps/commands/search_log.hpp"

#include "apps/run_folder/recorded_search.hpp"
#include "apps/steering/trial_copies.hpp"
#include "runtime/base/fault.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;

namespace {

const std::string halved_example = example +
                                   "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\n"
                                   "space.learning_rate = { log_uniform = [1e-5, 1e-3] }\n";

struct searching_run {
  searching_run() { w.options.output = folder.path(); }

  /// Why the run cannot be resumed; nothing if it can.
  fault resume() {
    session s{{.log = verbosity::quiet}};
    try {
      add_search(s, w, true, copies);
      return {};
    } catch (const fault_error& e) {
      return e.what_happened();
    }
  }

  temporary_folder folder;
  workload w = parse_workload(halved_example, "w.toml");
  trial_copies copies;
  std::string line = to_json_line(
      {trial_result{w.models[0].description.name, 1, 2.5}, {{w.models[0].description.name, 1, trial_verdict::wait}}});
};

}  // namespace

TEST_CASE("half a line at the end of search.jsonl, as a killed run leaves it, is cut off") {
  searching_run run;
  run.folder.write(search_file, run.line + run.line.substr(0, 20));
  CHECK(!run.resume());
  CHECK(run.folder.read(search_file) == run.line);
}

TEST_CASE("a damaged line of search.jsonl is bad input: it is named, with what can be done") {
  searching_run run;
  const std::string damaged = run.line + "{]\n" + run.line;
  run.folder.write(search_file, damaged);
  const fault why = run.resume();
  CHECK(why.code == fault_code::bad_input);
  CHECK_THAT(why.text, Contains("search.jsonl: line 2 is not a decision of a search: ") &&
                           !Contains("json.exception") && Contains("remove that line and all below it"));
  CHECK(run.folder.read(search_file) == damaged);
}

TEST_CASE("decisions of another search are bad input, too") {
  searching_run run;
  std::string other = run.line;
  run.folder.write(search_file, other.replace(other.find("wait"), 4, "stop"));
  CHECK(run.resume().code == fault_code::bad_input);
}

}  // namespace hydra::apps
