#pragma once
// The events of a trace file, one by one.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace hydra::apps {

/// Calls `take` with each member of "traceEvents": the whole tree may not fit in memory. Returns how many spans the run
/// has dropped. Throws fault_error{bad_input} with `name` for what is not a trace.
std::uint64_t each_trace_event(std::istream& in, const std::string& name,
                               const std::function<void(const nlohmann::json&)>& take);

}  // namespace hydra::apps
