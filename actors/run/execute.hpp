#pragma once
// One run in an actor system of its own, from its first actor to its record.

#include "actors/report/report_builder.hpp"
#include "actors/report/run_record.hpp"
#include "actors/run/device_set.hpp"
#include "actors/run/run_requests.hpp"
#include "actors/run/run_setup.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/interrupt_flag.hpp"
#include "runtime/memory/host_arena.hpp"

#include <vector>

namespace hydra {

/// What a run uses and the caller owns.
struct run_environment {
  device_set& devices;
  host_arena& arena;
  interrupt_flag& interrupts;
  request_line& requests;
  int optimizer_threads = 1;
  duration stop_limit{};           ///< how long a policy actor that does not end is awaited
  bool progress = false;           ///< printed on stderr
};

struct executed_run {
  run_record record;
  std::vector<device_snapshot> devices;   ///< at the end
};

/// Runs `setup`, whose update executor and progress printer are made here, and retires the devices. Returns when every
/// actor has ended.
executed_run execute(run_setup setup, const run_environment& in);

}  // namespace hydra
