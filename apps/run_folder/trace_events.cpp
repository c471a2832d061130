#include "apps/run_folder/trace_events.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

using nlohmann::json;

std::uint64_t each_trace_event(std::istream& in, const std::string& name,
                               const std::function<void(const json&)>& take) try {
  constexpr int depth_of_events = 2;  // {"traceEvents": [ here
  const json rest = json::parse(in, [&](int depth, json::parse_event_t what, json& parsed) {
    if (depth != depth_of_events || what != json::parse_event_t::object_end) return true;
    take(parsed);
    return false;
  });
  return rest.value("otherData", json::object()).value("dropped_spans", std::uint64_t{0});
} catch (const json::exception& e) {
  throw fault_error{fault_code::bad_input, fmt::format("{}: no trace of a run; is it truncated? {}", name, e.what())};
}

}  // namespace hydra::apps
