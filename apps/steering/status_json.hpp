#pragma once
// The status of a run as docs/control.md lists its members.

#include "actors/protocol/run_status.hpp"
#include "actors/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

namespace hydra::apps {

nlohmann::ordered_json to_json(const run_status& s);

/// Of a run that has ended.
run_status last_status(const report& r);

}  // namespace hydra::apps
