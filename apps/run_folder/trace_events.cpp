#include "apps/run_folder/trace_events.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hydra::apps {

using nlohmann::json;

namespace {

/// Of a file that is being parsed only the present event and "otherData" stay in memory, whatever else it has.
class event_filter {
 public:
  explicit event_filter(const std::function<void(const json&)>& take) : given_to_{take} {}

  /// As the parser asks: does this stay?
  bool operator()(int depth, json::parse_event_t what, json& parsed) {
    using event = json::parse_event_t;
    if (what == event::key && depth == 1) key_ = parsed.get<std::string>();
    const bool among_events = key_ == "traceEvents";
    if (what == event::array_start) return depth == 1 && among_events;
    if (what == event::object_start) return depth != 1 || key_ == "otherData";
    if (depth != depth_of_events || !among_events) return true;
    if (what == event::object_end) given_to_(parsed);
    return what != event::object_end && what != event::value;
  }

 private:
  static constexpr int depth_of_events = 2;  // {"traceEvents": [ here
  const std::function<void(const json&)>& given_to_;
  std::string key_;  ///< of the whole, whose value is being parsed
};

}  // namespace

std::uint64_t each_trace_event(std::istream& in, const std::string& name,
                               const std::function<void(const json&)>& take) try {
  event_filter filter{take};
  const json rest = json::parse(in, std::ref(filter));
  return rest.value("otherData", json::object()).value("dropped_spans", std::uint64_t{0});
} catch (const json::exception& e) {
  refuse(fmt::format("{}: no trace of a run; is it truncated? {}", name, json_complaint(e)));
}

}  // namespace hydra::apps
