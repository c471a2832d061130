#include "apps/bench/fragmentation.hpp"

#include "actors/report/text_table.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/device_kinds.hpp"
#include "apps/workload/workload.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"
#include "runtime/device/streams/page_arena.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace hydra::apps {

namespace {

using trace_events = std::vector<allocation_trace::event>;

constexpr std::uint64_t pages_of_peak = 768;

byte_count peak_of(const trace_events& trace) {
  std::unordered_map<std::uint64_t, byte_count> open;
  byte_count now, peak;
  for (const auto& e : trace) {
    if (e.bytes > byte_count{}) {
      open[e.block] = charged_bytes(e.bytes);
      now += open[e.block];
      peak = std::max(peak, now);
    } else {
      now -= open[e.block];
    }
  }
  return peak;
}

/// Share of the allocations that move pages; nothing if an allocation fails.
std::optional<double> replay(const trace_events& trace, page_arena arena) {
  std::unordered_map<std::uint64_t, std::uint64_t> at;
  std::size_t moving = 0;
  for (const auto& e : trace) {
    if (e.bytes == byte_count{}) {
      arena.give(at.at(e.block), std::nullopt);
      continue;
    }
    const auto taken = arena.take(e.bytes, e.queue);
    if (!taken) return std::nullopt;
    at[e.block] = taken->offset;
    moving += taken->unmapped.empty() ? 0 : 1;
  }
  return static_cast<double>(moving) / static_cast<double>(std::max<std::size_t>(at.size(), 1));
}

byte_count times(byte_count n, double factor) {
  return byte_count{static_cast<std::uint64_t>(static_cast<double>(n.value()) * factor)};
}

page_arena one_range(byte_count size) { return page_arena(byte_count{size.value() / 512 * 512}, 1, 1); }

page_arena paged(byte_count page, byte_count size) { return page_arena(page, size.value() / page.value()); }

/// The smallest factor in [1, 2] that fits, to a thousandth.
template <class Fits>
double smallest_factor(const Fits& fits) {
  double low = 1, high = 2;
  while (high - low > 0.001) {
    const double middle = (low + high) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

void add_recording_devices(session& s, const workload& w, std::vector<std::shared_ptr<allocation_trace>>& traces) {
  for (const device_entry& d : w.devices) {
    if (d.kind.name != "cpu")
      throw fault_error{fault_code::bad_input,
                        "hydra bench fragmentation: all devices of the workload must be virtual (kind = \"cpu\")"};
    for (int i = 0; i < d.count; ++i) {
      const cpu_device options = read_cpu_device(std::get<value_table>(d.keys.content));
      s.add_device("cpu", [options, trace = traces.emplace_back(std::make_shared<allocation_trace>())](const std::string& name) {
        return make_recording_device(name, options, trace);
      });
    }
  }
}

}  // namespace

fragmentation_row fragmentation_of(const trace_events& trace) {
  fragmentation_row row{.device = {}, .allocations = 0, .peak = peak_of(trace)};
  row.allocations = static_cast<std::size_t>(
      std::ranges::count_if(trace, [](const auto& e) { return e.bytes > byte_count{}; }));
  const byte_count page = round_up(byte_count{std::max<std::uint64_t>(row.peak.value() / pages_of_peak, 1)}, 512);
  row.one_range = smallest_factor([&](double f) { return replay(trace, one_range(times(row.peak, f))).has_value(); });
  row.pages = smallest_factor([&](double f) { return replay(trace, paged(page, times(row.peak, f))).has_value(); });
  row.moving = replay(trace, paged(page, times(row.peak, 1 + 1.0 / 32))).value_or(1);
  return row;
}

fragmentation_result measure_fragmentation(const fragmentation_options& o) {
  workload w = read_workload(o.workload);
  session_options options = w.options;
  options.log = verbosity::quiet;
  options.output.clear();
  session s{options};
  std::vector<std::shared_ptr<allocation_trace>> traces;
  add_recording_devices(s, w, traces);
  w.devices.clear();
  assemble(s, w);
  if (!s.run().all_finished()) throw fault_error{fault_code::internal, "a model of the benchmark has failed"};
  fragmentation_result r{w.options.name, {}};
  for (std::size_t i = 0; i < traces.size(); ++i) {
    auto events = traces[i]->events();
    events.resize(std::min(events.size(), o.events));
    r.rows.push_back(fragmentation_of(events));
    r.rows.back().device = fmt::format("cpu:{}", i);
  }
  return r;
}

std::string to_table(const fragmentation_result& r) {
  constexpr auto right = alignment::right;
  text_table t{{{r.workload}, {"allocations", right}, {"in use", right}, {"one range", right}, {"pages", right},
                {"of them moving pages", right}}};
  for (const auto& row : r.rows)
    t.add({row.device, fmt::format("{}", row.allocations), to_string(row.peak), fmt::format("{:.3f}", row.one_range),
           fmt::format("{:.3f}", row.pages), fmt::format("{:.2f} %", row.moving * 100)});
  return t.to_string();
}

std::string to_json(const fragmentation_result& r, const machine_description& on) {
  using json = nlohmann::ordered_json;
  json j{{"name", "fragmentation"}, {"processor", on.processor}, {"workload", r.workload}, {"rows", json::array()}};
  for (const auto& row : r.rows)
    j["rows"].push_back({{"device", row.device}, {"allocations", row.allocations}, {"peak_bytes", row.peak.value()},
                         {"one_range_over_peak", row.one_range}, {"pages_over_peak", row.pages},
                         {"allocations_moving_pages", row.moving}});
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
