#include "apps/report/device_charts.hpp"

#include "apps/report/axis.hpp"
#include "apps/report/chart_parts.hpp"
#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hydra::apps {

namespace {

constexpr double timeline_width = 960, left = 96, right = 16;
constexpr std::size_t most_spans = 30000;  // of all lanes together, about 25 bytes each

// -- timeline ---------------------------------------------------------------------------------------------------------

constexpr double tall_lane = 26, small_lane = 8, lane_gap = 2, device_gap = 12;

double height_of(const timeline_lane& lane) { return lane.queue == "compute" ? tall_lane : small_lane; }

/// One path for each model keeps the page small.
std::string lane_paths(const std::vector<drawn_span>& spans, const axis& time, double y, double height) {
  std::map<std::uint32_t, std::string> paths;
  for (const drawn_span& s : spans) {
    const double x = time.at(s.begin), high = std::max(height * s.share, 1.0);
    paths[s.model] += rectangle_path(x, y + height - high, std::max(time.at(s.end) - x, 0.1), high);
  }
  std::string out;
  for (const auto& [model, path] : paths) out += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour_of(model), path);
  return out;
}

/// Upper edges of the lanes, and the lower edge of the last one.
std::vector<double> lane_places(const std::vector<timeline_lane>& lanes) {
  std::vector<double> places{4};
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool last_of_device = i + 1 == lanes.size() || lanes[i + 1].device != lanes[i].device;
    places.push_back(places.back() + height_of(lanes[i]) + (last_of_device ? device_gap : lane_gap));
  }
  return places;
}

// -- time breakdown ---------------------------------------------------------------------------------------------------

constexpr double bar_height = 22, bar_gap = 8;

struct cause {
  std::string_view name;
  std::string_view text;
  std::string_view colour;
};

constexpr cause causes[]{{"compute", "compute", "#59a14f"},
                         {"exposed_h2d", "exposed h2d copies", "#f28e2b"},
                         {"exposed_d2h", "exposed d2h copies", "#d4a72c"},
                         {"optimizer", "waits for the optimizer", "#b07aa1"},
                         {"predecessor", "waits for a predecessor elsewhere", "#4e79a7"},
                         {"bubble", "pipeline bubble", "#76b7b2"},
                         {"no_unit", "no unit left", "#9aa3ad"},
                         {"actors", "messages between actors", "#e15759"},
                         {"exposed", "exposed copies", "#f28e2b"},
                         {"idle", "idle", "#9aa3ad"}};

std::string colour_of_cause(std::string_view name) {
  const auto found = std::ranges::find(causes, name, &cause::name);
  return std::string{found == std::end(causes) ? "#ff6f91" : found->colour};
}

double length_of(const breakdown_bar& bar) {
  double sum = 0;
  for (const named_seconds& p : bar.parts) sum += p.seconds;
  return sum;
}

std::string bar_parts(const breakdown_bar& bar, const axis& time, double y) {
  std::string out;
  double at = 0;
  for (const named_seconds& p : bar.parts) {
    const double x = time.at(at);
    at += p.seconds;
    out += fmt::format("<path fill=\"{}\" d=\"{}\"><title>{}: {:.3f} s</title></path>\n", colour_of_cause(p.name),
                       rectangle_path(x, y, time.at(at) - x, bar_height), escaped(cause_text(p.name)), p.seconds);
  }
  return out;
}

std::vector<std::string> names_of_parts(std::span<const breakdown_bar> bars) {
  std::vector<std::string> names;
  for (const breakdown_bar& b : bars)
    for (const named_seconds& p : b.parts)
      if (std::ranges::count(names, p.name) == 0) names.push_back(p.name);
  return names;
}

std::string legend_of(std::span<const breakdown_bar> bars) {
  std::vector<legend_entry> entries;
  for (const std::string& name : names_of_parts(bars)) entries.push_back({colour_of_cause(name), cause_text(name)});
  return legend(entries);
}

/// Time cannot be negative or undefined, whatever a file says.
std::vector<named_seconds> drawable(std::vector<named_seconds> parts) {
  std::erase_if(parts, [](const named_seconds& p) { return !std::isfinite(p.seconds) || p.seconds <= 0; });
  return parts;
}

std::vector<named_seconds> without_breakdown(const device_report& d, double makespan) {
  const double busy = seconds(d.busy), exposed = seconds(d.exposed_transfer);
  return {{"compute", busy}, {"exposed", exposed}, {"idle", makespan - busy - exposed}};
}

}  // namespace

std::string timeline_chart(const timeline& t) {
  const bool none = std::ranges::all_of(t.lanes, [](const timeline_lane& l) { return l.spans.empty(); });
  if (none || !(t.seconds > 0)) return "";
  const auto places = lane_places(t.lanes);
  const axis time{0, t.seconds, left, timeline_width - right};
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"timeline of the devices\">\n",
                                timeline_width, coordinate(places.back() + grid_footer));
  out += vertical_grid(time, places.back(), "seconds");
  for (std::size_t i = 0; i < t.lanes.size(); ++i) {
    const timeline_lane& lane = t.lanes[i];
    const bool compute = lane.queue == "compute";
    const std::string label = compute ? lane.device : lane.queue;
    out += svg_text(left - 6, places[i] + height_of(lane) / 2 + 4, "end", label);
    out += lane_paths(thin_out(lane, t.seconds, std::max<std::size_t>(most_spans / t.lanes.size(), 100)), time,
                      places[i], height_of(lane));
  }
  return out + "</svg>\n";
}

std::vector<breakdown_bar> breakdown_bars(const recorded_run& run) {
  std::vector<breakdown_bar> bars;
  const double makespan = seconds(run.summary.makespan);
  for (std::size_t i = 0; makespan > 0 && i < run.summary.devices.size(); ++i) {
    const device_report& d = run.summary.devices[i];
    const bool reported = i < run.breakdown.size() && !run.breakdown[i].empty();
    bars.push_back({d.name, drawable(reported ? run.breakdown[i] : without_breakdown(d, makespan))});
  }
  return bars;
}

std::string breakdown_chart(std::span<const breakdown_bar> bars) {
  double longest = 0;
  for (const breakdown_bar& b : bars) longest = std::max(longest, length_of(b));
  if (!(longest > 0)) return "";
  const axis time{0, longest, left, timeline_width - right};
  const double bottom = static_cast<double>(bars.size()) * (bar_height + bar_gap);
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"what the time went to\">\n",
                                timeline_width, coordinate(bottom + grid_footer));
  out += vertical_grid(time, bottom, "seconds");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = static_cast<double>(i) * (bar_height + bar_gap);
    out += svg_text(left - 6, y + bar_height / 2 + 4, "end", bars[i].device) + bar_parts(bars[i], time, y);
  }
  return out + "</svg>\n" + legend_of(bars);
}

std::string cause_text(std::string_view name) {
  const auto found = std::ranges::find(causes, name, &cause::name);
  return std::string{found == std::end(causes) ? name : found->text};
}

}  // namespace hydra::apps
