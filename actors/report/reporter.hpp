#pragma once
// REPORTER: collects what the report of a run says, prints progress, and sees runs that stand still.

#include "actors/protocol.hpp"
#include "actors/protocol/run_services.hpp"
#include "actors/report/run_record.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace hydra {

class progress_printer;
class run_metrics;

/// Everything a run was asked to produce.
using record_sink = std::function<void(run_record)>;

struct reporter_setup {
  std::vector<sharded_model_ptr> models;
  std::vector<model_standing> standing_before;   ///< of each model
  std::size_t devices = 0;
  progress_printer* progress = nullptr;
  run_metrics* metrics = nullptr;
  duration stall_limit{};
  supervisor_actor supervisor;
  record_sink sink;                ///< called at its end, however it ends
};
reporter_actor spawn_reporter(caf::actor_system& system, const run_services& services, const reporter_setup& setup);

}  // namespace hydra
