#include "apps/run_folder/recorded_trace.hpp"

#include "apps/run_folder/trace_events.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <utility>

namespace hydra::apps {

namespace {

using json = nlohmann::json;

/// The names of tracks precede their spans.
class span_reader {
 public:
  explicit span_reader(const std::function<void(const span&)>& take) : given_to_(take) {}

  void take(const json& event) {
    const std::string phase = event.value("ph", "");
    if (phase == "M") take_name(event);
    if (phase == "X") take_span(event);
  }

 private:
  using track = std::pair<std::int64_t, std::int64_t>;

  static track track_of(const json& event) { return {event.value("pid", -1), event.value("tid", -1)}; }

  void take_name(const json& event) {
    auto& [process, thread] = tracks_[track_of(event)];
    (event.value("name", "") == "process_name" ? process : thread) = event.at("args").value("name", "");
  }

  void take_span(const json& event) {
    const auto begin = time_point{} + nanoseconds(event.value("ts", 0.0));
    const auto args = event.find("args");
    const auto& [process, thread] = tracks_[track_of(event)];
    given_to_({event.value("name", ""), process + " " + thread, begin,
                      begin + nanoseconds(event.value("dur", 0.0)),
                      args == event.end() ? "" : args->value("detail", "")});
  }

  static duration nanoseconds(double us) { return duration{std::llround(us * 1e3)}; }

  const std::function<void(const span&)>& given_to_;
  std::map<track, std::pair<std::string, std::string>> tracks_;
};

}  // namespace

std::uint64_t read_spans(std::istream& in, const std::string& name, const std::function<void(const span&)>& take) {
  span_reader reader{take};
  return each_trace_event(in, name, [&](const json& event) { reader.take(event); });
}

std::uint64_t read_spans(const std::filesystem::path& file, const std::function<void(const span&)>& take) {
  if (kind_of(file) == std::filesystem::file_type::not_found)
    refuse(file.string() + ": no such file; a run writes it at its end");
  file_stream in{file};
  return read_spans(in, file.string(), take);
}

}  // namespace hydra::apps
