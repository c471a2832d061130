#pragma once
// Prints what steps in parallel would bring.

#include "actors/admission/compared_forecasts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

namespace hydra::apps {

/// A row for each way, then the fastest one, and the fastest that leaves results as they are, in words: "2 replicas:
/// 1.8 x as fast on these devices, +31 MiB of host memory". Empty if there is only the plan's own way, which is the
/// first.
std::string to_table(std::span<const parallel_forecast> ways);

/// [{"replicas", "waves", "shards", "makespan_s", "bound_s", "bound", "host_bytes", "same_results"}], the plan's own
/// way first.
nlohmann::ordered_json parallel_json(std::span<const parallel_forecast> ways);

}  // namespace hydra::apps
