#include "runtime/trace.hpp"

#include "runtime/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <ostream>
#include <string_view>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;

/// "cpu:0 compute" is thread "compute" of process "cpu:0"; a track of one word is both.
std::pair<std::string, std::string> process_and_thread(const std::string& track) {
  const auto space = track.find(' ');
  if (space == std::string::npos) return {track, track};
  return {track.substr(0, space), track.substr(space + 1)};
}

struct place {
  std::size_t process;
  std::size_t thread;
};

/// Numbers for processes and threads, in order of name so that the same tracks always give the same file.
std::map<std::string, place> number_tracks(const std::vector<span>& spans) {
  std::map<std::string, std::size_t> processes;
  std::map<std::string, place> tracks;
  for (const auto& s : spans) tracks.emplace(s.track, place{});
  for (const auto& [track, unused] : tracks) processes.emplace(process_and_thread(track).first, processes.size() + 1);
  for (std::size_t n = 0; auto& [track, where] : tracks) where = {processes[process_and_thread(track).first], ++n};
  return tracks;
}

/// Names come from users: what is no UTF-8 is replaced, not refused.
void write_event(std::ostream& out, const json& event, bool last) {
  out << event.dump(-1, ' ', false, json::error_handler_t::replace) << (last ? "\n" : ",\n");
}

json name_of(const char* what, const place& where, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", where.process}, {"tid", where.thread}, {"args", {{"name", name}}}};
}

double microseconds(duration d) { return static_cast<double>(d.count()) / 1e3; }

json event_of(const span& s, const place& where, time_point origin) {
  json event{{"ph", "X"},
             {"name", s.name},
             {"pid", where.process},
             {"tid", where.thread},
             {"ts", microseconds(s.begin - origin)},
             {"dur", microseconds(s.end - s.begin)}};
  if (!s.detail.empty()) event["args"]["detail"] = s.detail;
  return event;
}

time_point earliest(const std::vector<span>& spans) {
  return spans.empty() ? time_point{} : std::ranges::min_element(spans, {}, &span::begin)->begin;
}

/// Event by event: as one JSON document the spans of a long run would take gigabytes.
void write_chrome_trace(std::ostream& out, const std::vector<span>& spans) {
  const auto tracks = number_tracks(spans);
  const time_point origin = earliest(spans);
  out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (const auto& [track, where] : tracks) {
    const auto [process, thread] = process_and_thread(track);
    write_event(out, name_of("process_name", where, process), false);
    write_event(out, name_of("thread_name", where, thread), false);
  }
  for (const auto& s : spans) write_event(out, event_of(s, tracks.at(s.track), origin), &s == &spans.back());
  out << "]}\n";
}

}  // namespace

struct trace::state {
  mutable std::mutex mutex;
  std::vector<span> spans;
};

trace::trace() : state_(std::make_unique<state>()) {}

trace::~trace() = default;

void trace::record(span s) {
  const std::lock_guard lock{state_->mutex};
  state_->spans.push_back(std::move(s));
}

std::vector<span> trace::spans() const {
  const std::lock_guard lock{state_->mutex};
  return state_->spans;
}

void trace::write(const std::filesystem::path& file) const {
  const auto all = spans();
  write_atomically(file, [&](std::ostream& out) { write_chrome_trace(out, all); });
}

}  // namespace hydra
