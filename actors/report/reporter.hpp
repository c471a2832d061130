#pragma once
// REPORTER: collects the data of the report, prints progress, and detects runs without progress.

#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"
#include "actors/report/expense_terms.hpp"
#include "actors/report/run_record.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"

#include <functional>
#include <set>
#include <vector>

namespace hydra {

class device;
class expense_file;
class host_energy;
class progress_printer;
class run_metrics;

/// Receives the record of the run.
using record_sink = std::function<void(run_record)>;

struct reporter_setup {
  std::vector<sharded_model_ptr> models;
  std::vector<model_standing> standing_before;   ///< of each model
  std::set<model_id> waiting;                    ///< models that wait for memory
  std::vector<const device*> devices;            ///< of the run; read only
  host_energy* host = nullptr;                   ///< null: its energy is not measured
  run_terms terms{};
  expense_file* expenses = nullptr;              ///< null: they are not recorded
  bool open_end = false;           ///< the run lasts until it is shut down: for so long its devices are paid, and
                                   ///< what they take while no model is trained belongs to none
  progress_printer* progress = nullptr;
  run_metrics* metrics = nullptr;
  duration stall_limit{};
  supervisor_actor supervisor;
  record_sink sink;                ///< called at its end, for whatever reason it ends
};
reporter_actor spawn_reporter(caf::actor_system& system, const run_services& services, const reporter_setup& setup);

}  // namespace hydra
