#include "runtime/trace/trace.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/storage/atomic_file.hpp"
#include "runtime/trace/span_ring.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <ostream>
#include <string_view>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;

/// "cpu:0 compute" is thread "compute" of process "cpu:0"; for a track of one word both have that name.
std::pair<std::string, std::string> process_and_thread(std::string_view track) {
  const auto space = track.find(' ');
  const auto process = track.substr(0, space);
  return {std::string{process}, std::string{space == std::string_view::npos ? track : track.substr(space + 1)}};
}

struct place {
  std::size_t process;
  std::size_t thread;
};

using track_places = std::map<std::string, place, std::less<>>;

/// Numbers of processes and threads, in order of their names, so that the same tracks always give the same file.
track_places number_tracks(const span_ring& spans) {
  std::map<std::string, std::size_t> processes;
  track_places tracks;
  spans.for_each([&](const span_view& s) {
    if (!tracks.contains(s.track)) tracks.emplace(s.track, place{});
  });
  for (const auto& [track, unused] : tracks) processes.emplace(process_and_thread(track).first, processes.size() + 1);
  for (std::size_t n = 0; auto& [track, where] : tracks) where = {processes[process_and_thread(track).first], ++n};
  return tracks;
}

/// Names come from users: bytes that are not UTF-8 are replaced.
void write_event(std::ostream& out, const json& event, bool last) {
  out << json_text(event) << (last ? "\n" : ",\n");
}

json name_of(const char* what, const place& where, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", where.process}, {"tid", where.thread}, {"args", {{"name", name}}}};
}

double microseconds(duration d) { return static_cast<double>(d.count()) / 1e3; }

json event_of(const span_view& s, const place& where, time_point origin) {
  json event{{"ph", "X"},
             {"name", s.name},
             {"pid", where.process},
             {"tid", where.thread},
             {"ts", microseconds(s.begin - origin)},
             {"dur", microseconds(s.end - s.begin)}};
  if (!s.detail.empty()) event["args"]["detail"] = s.detail;
  return event;
}

/// Of the spans that are kept.
time_point earliest(const span_ring& spans) {
  auto least = time_point::max();
  spans.for_each([&](const span_view& s) { least = std::min(least, s.begin); });
  return least;
}

/// Empty if no span was dropped.
std::string what_was_dropped(const span_ring& spans, time_point origin) {
  if (spans.dropped() == 0) return {};
  const json reported{{"dropped_spans", spans.dropped()}, {"begins_us", microseconds(earliest(spans) - origin)}};
  return fmt::format(R"("otherData": {}, )", json_text(reported));
}

/// Written event by event: as one JSON document the spans of a long run would take gigabytes.
void write_chrome_trace(std::ostream& out, const span_ring& spans) {
  const auto tracks = number_tracks(spans);
  const time_point origin = spans.earliest().value_or(time_point{});
  out << "{\"displayTimeUnit\": \"ms\", " << what_was_dropped(spans, origin) << "\"traceEvents\": [\n";
  for (const auto& [track, where] : tracks) {
    const auto [process, thread] = process_and_thread(track);
    write_event(out, name_of("process_name", where, process), false);
    write_event(out, name_of("thread_name", where, thread), false);
  }
  std::uint64_t left = spans.size();
  spans.for_each([&](const span_view& s) {
    write_event(out, event_of(s, tracks.find(s.track)->second, origin), --left == 0);
  });
  out << "]}\n";
}

}  // namespace

struct trace::state {
  explicit state(byte_count limit) : spans(limit) {}

  mutable std::mutex mutex;
  span_ring spans;
};

trace::trace(byte_count limit) : state_(std::make_unique<state>(limit)) {}

trace::~trace() = default;

void trace::record(const span& s) {
  const std::lock_guard lock{state_->mutex};
  state_->spans.push(s);
}

std::vector<span> trace::spans() const {
  const std::lock_guard lock{state_->mutex};
  std::vector<span> all;
  all.reserve(state_->spans.size());
  state_->spans.for_each([&](const span_view& s) {
    all.push_back({std::string{s.name}, std::string{s.track}, s.begin, s.end, std::string{s.detail}});
  });
  return all;
}

byte_count trace::bytes() const {
  const std::lock_guard lock{state_->mutex};
  return state_->spans.bytes();
}

std::uint64_t trace::dropped() const {
  const std::lock_guard lock{state_->mutex};
  return state_->spans.dropped();
}

/// Threads that record meanwhile have to wait: a copy would double the memory.
void trace::write(const std::filesystem::path& file) const {
  const std::lock_guard lock{state_->mutex};
  write_atomically(file, [&](std::ostream& out) { write_chrome_trace(out, state_->spans); });
}

}  // namespace hydra
