// What is not a file, in the place of each file of a run folder and of each that a command is given.

#include "tests/support/special_files.hpp"

#include "actors/cluster/keys.hpp"
#include "actors/simulation/instance_file.hpp"
#include "apps/report/page.hpp"
#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/metrics_record.hpp"
#include "apps/run_folder/recorded_data.hpp"
#include "apps/run_folder/recorded_run.hpp"
#include "apps/run_folder/recorded_search.hpp"
#include "apps/run_folder/recorded_trace.hpp"
#include "apps/simulate/study_file.hpp"
#include "apps/workload/workload.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "partition/plan/plan_file.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <functional>

namespace hydra::apps {

using Catch::Matchers::Contains;
using test::fault_of;
using test::special_file;
using test::special_files;

namespace {

namespace fs = std::filesystem;

/// Reads what is in the folder under that name.
struct named_reading {
  const char* name;
  std::function<void(const fs::path&)> read;
};

const std::array named_readings{
    named_reading{"w.toml", [](const fs::path& f) { read_workload(f / "w.toml"); }},
    named_reading{"study.toml", [](const fs::path& f) { read_study(f / "study.toml"); }},
    named_reading{"plan.json", [](const fs::path& f) { load_plan(f / "plan.json"); }},
    named_reading{"instance.json", [](const fs::path& f) { load_instance(f / "instance.json"); }},
    named_reading{"report.json", [](const fs::path& f) { read_report(f); }},
    named_reading{"trace.json", [](const fs::path& f) { read_spans(f / "trace.json", [](const span&) {}); }},
    named_reading{"trace.json", [](const fs::path& f) { timeline_of({}, f); }},
    named_reading{"data.json", [](const fs::path& f) { read_recorded_data(f); }},
    named_reading{"search.jsonl", [](const fs::path& f) { read_decisions(f); }},
    named_reading{"added.toml", [](const fs::path& f) { read_added(f); }},
    named_reading{"authority.pem", [](const fs::path& f) { check_cluster_keys(cluster_keys::in(f)); }}};

}  // namespace

TEST_CASE("what is not a file is refused by every reader of a run folder and of what a command is given") {
  const temporary_folder folder;
  for (const special_file& special : special_files()) {
    if (special.refusal == "no such file") continue;  // some of these files need not be there
    for (const named_reading& r : named_readings) {
      const fs::path place = folder.path() / r.name;
      special.make(place);
      CAPTURE(special.refusal, r.name);
      const fault why = fault_of([&] { r.read(folder.path()); });
      CHECK(why.code == fault_code::bad_input);
      CHECK_THAT(why.text, Contains(place.string()) && Contains(special.refusal));
      fs::remove(place);
    }
  }
}

TEST_CASE("a state.json that is not a file is damage of its checkpoint, which is passed over") {
  const temporary_folder folder;
  for (const special_file& special : special_files()) {
    special.make(folder.path() / "state.json");
    const fault why = fault_of([&] { read_checkpoint(folder.path()); });
    CHECK(why.code == fault_code::damaged);
    CHECK_THAT(why.text, Contains("state.json: " + special.refusal));
    fs::remove(folder.path() / "state.json");
  }
}

}  // namespace hydra::apps
