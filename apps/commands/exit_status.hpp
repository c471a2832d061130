#pragma once
// Exit statuses of the program.

#include "actors/report/report.hpp"
#include "runtime/base/fault.hpp"

#include <string>

namespace hydra::apps {

/// As docs/running.md lists them.
enum exit_status : int { all_done = 0, some_failed = 1, bad_input = 2, does_not_fit = 3, interrupted = 130 };

/// The status of a command that has thrown.
exit_status status_of(fault_code code);

/// The status of a run, by whether a model could not be saved, the run was interrupted, or a model or a callback
/// failed.
exit_status status_of(const report& r);

/// Why a run ends with some_failed: "1 of 3 models failed; 2 of 3 models could not be saved at the end".
std::string failures_of(const report& r);

}  // namespace hydra::apps
