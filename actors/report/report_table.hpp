#pragma once
// The table at the end of a run, and cells that other tables share.

#include "actors/report/report.hpp"

#include <string>

namespace hydra {

/// Models (loss, status), devices (utilisation, bytes), makespan next to its bounds.
std::string to_table(const report& r);

/// Cells of tables; "-" if there was nothing to measure.
std::string tokens_per_second(const model_report& m);
std::string hit_rate(const device_report& d);
/// "bounds  work 2.000 s  chain 1.000 s ...", with a newline.
std::string to_line(const bounds& limits);

}  // namespace hydra
