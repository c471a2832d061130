#include "apps/commands/plan_table.hpp"

#include "actors/report/expense_table.hpp"
#include "actors/report/report_table.hpp"
#include "actors/report/text_table.hpp"
#include "apps/commands/layer_kinds.hpp"
#include "apps/commands/repeated_rows.hpp"
#include "partition/plan/shared_bases.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

using enum alignment;
using hydra::to_string;  // beside those of apps

std::string range(std::size_t first, std::size_t past) {
  return past - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, past - 1);
}

/// With a column for frozen parameters after those that are trained, unless there are none. Rows that repeat many
/// others but for their numbers, in front of the kind or the parameters, are left out.
class parameters_table {
 public:
  template <class Places>
  parameters_table(std::vector<table_column> columns, std::size_t parameters, const Places& places)
      : parameters_(parameters),
        numbers_(columns[1].align == right ? 2 : 1),
        frozen_(std::ranges::any_of(places, [](const auto& place) { return place.base > byte_count{}; })),
        columns_(with_frozen(std::move(columns), table_column{"frozen", right})) {}

  void add(std::vector<std::string> cells, byte_count base) {
    rows_.push_back(with_frozen(std::move(cells), to_string(base)));
  }

  std::string to_string_indented() const {
    constexpr std::size_t many = 12;
    const auto again = most_repeated(texts(), many);
    text_table t{columns_};
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!again || i < again->first + again->rows || i >= again->past()) t.add(rows_[i]);
    return t.to_string("  ") + (again ? repeats_of(*again) : "");
  }

 private:
  /// Without their numbers.
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const auto& row : rows_) all.push_back(fmt::format("{}", fmt::join(std::span(row).subspan(numbers_), " ")));
    return all;
  }

  std::string repeats_of(const repeated_rows& r) const {
    const auto number = [&](std::size_t row) { return rows_[row].front(); };
    return fmt::format("  {} {} to {} stand {} times, up to {}\n", columns_.front().title + (numbers_ == 2 ? "s" : ""),
                       number(r.first), number(r.first + r.rows - 1), r.times, number(r.past() - 1));
  }

  template <class Cell>
  std::vector<Cell> with_frozen(std::vector<Cell> cells, Cell frozen) const {
    if (frozen_) cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(parameters_) + 1, std::move(frozen));
    return cells;
  }

  std::size_t parameters_;
  std::size_t numbers_;  ///< cells in front that number the rows
  bool frozen_;
  std::vector<table_column> columns_;
  std::vector<std::vector<std::string>> rows_{};
};

/// One row for each run of layers that cost the same; times are of one micro-batch.
std::string layer_table(const chain_profile& p) {
  parameters_table t{{{"layers", right},
                      {"kind"},
                      {"parameters", right},
                      {"saved", right},
                      {"output", right},
                      {"transient", right},
                      {"forward", right},
                      {"backward", right}},
                     2,
                     p.layers};
  const std::vector<std::string> kinds = short_kinds(p.layers);
  for (std::size_t first = 0, past = 0; first < p.layers.size(); first = past) {
    const layer_profile& l = p.layers[first];
    for (past = first + 1; past < p.layers.size() && p.layers[past] == l;) ++past;
    t.add({range(first, past), kinds[first], to_string(l.parameters), to_string(l.saved), to_string(l.output),
           to_string(std::max(l.forward_transient, l.backward_transient)), to_string(l.forward), to_string(l.backward)},
          l.base);
  }
  return t.to_string_indented();
}

/// The update time; an update on the device is part of the backward visit.
std::string update_text(const shard_plan& s) {
  return s.steps_on_device ? to_string(s.device_update_time) + " on device" : to_string(s.update_time);
}

std::string shard_table(const model_plan& m) {
  parameters_table t{{{"shard", right},
                      {"layers", right},
                      {"parameters", right},
                      {"to stage", right},
                      {"to compute", right},
                      {"to save", right},
                      {"forward", right},
                      {"backward", right},
                      {"update", right}},
                     2,
                     m.shards};
  for (std::size_t i = 0; i < m.shards.size(); ++i) {
    const shard_plan& s = m.shards[i];
    const bool last = i + 1 == m.shards.size();
    t.add({std::to_string(i), range(s.first_layer, s.last_layer), to_string(s.parameters),
           to_string(std::max(s.forward.staging(), s.backward.staging())),
           to_string(std::max(s.forward.computing(), s.backward.computing())),
           s.saved == byte_count{} ? "-" : to_string(s.saved * m.shape().batches_of(static_cast<std::uint32_t>(i))),
           last ? "-" : to_string(s.forward_time), i < m.first_trained ? "-" : to_string(s.backward_time),
           i < m.first_trained ? "-" : update_text(s)},
          s.base);
  }
  return t.to_string_indented();
}

bool same_plan(const model_plan& a, const model_plan& b) {
  return a.profile == b.profile && a.shape() == b.shape() && a.cuts() == b.cuts();
}

/// Names of all models with the same plan as this one.
std::string names_like(const workload_plan& plan, const model_plan& m) {
  std::string names;
  for (const model_plan& other : plan.models)
    if (same_plan(other, m)) names += (names.empty() ? "" : ", ") + other.name;
  return names;
}

/// Of the micro-batches.
std::string division_text(const model_plan& m) {
  const step_shape shape = m.shape();
  const std::string parts =
      shape.visits() == 1
          ? ""
      : shape.meets > 0
          ? fmt::format(" in {} that meet before shard {}", counted(m.replicas, "replica"), shape.meets)
          : fmt::format(" in {} and {} of each", counted(m.replicas, "replica"), counted(m.waves, "wave"));
  if (m.pieces == 1) return parts;
  return parts + fmt::format(", {} pieces {}", m.pieces, shape.abreast > 1 ? "side by side" : "in turn");
}

/// Which part of the parameters is trained, unless it is all of them.
std::string trained_text(const model_plan& m) {
  byte_count trained, frozen;
  for (const shard_plan& s : m.shards) {
    trained += s.parameters;
    frozen += s.base;
  }
  return frozen == byte_count{} ? ""
                                : fmt::format("  trains {} of {}", to_string(trained), to_string(trained + frozen));
}

std::string model_text(const workload_plan& plan, const model_plan& m) {
  std::string text =
      fmt::format("{}\n  micro-batches {}{}  samples of each {}  shards {}  alone needs {} on a device{}\n\n",
                  wrap(names_like(plan, m), widest_line, 0), m.micro_batches, division_text(m), m.samples,
                  m.shards.size(), to_string(m.sufficient), trained_text(m));
  const auto profile = plan.profiles.find(m.profile);
  if (profile != plan.profiles.end()) text += layer_table(*profile->second) + "\n";
  return text + shard_table(m) + "\n";
}

/// Has a column for the precision, unless all devices compute in fp32.
std::string device_table(std::span<const device_info> devices) {
  const bool rounded = std::ranges::any_of(devices, [](auto& d) { return d.numbers != precision::fp32; });
  std::vector<table_column> columns{{"device"},        {"kind"},        {"speed", right},
                                    {"memory", right}, {"link", right}, {"latency", right}};
  if (rounded) columns.insert(columns.begin() + 2, table_column{"precision"});
  text_table t{columns};
  for (const device_info& d : devices) {
    std::vector<std::string> row{d.name, d.kind, fmt::format("{:g}", d.speed), to_string(d.memory),
                                 d.link.limited() ? to_string(d.link) : "not emulated", to_string(d.latency)};
    if (rounded) row.insert(row.begin() + 2, to_string(d.numbers));
    t.add(std::move(row));
  }
  return t.fitted();
}

/// What the host saves by one copy of frozen parameters that several models have.
std::string sharing_text(const workload_plan& plan) {
  byte_count each;
  for (const model_plan& m : plan.models) each += base_bytes({&m, 1});
  const byte_count once = base_bytes(plan.models);
  if (each == once) return "";
  return fmt::format("\nfrozen {}, which would be {} if models did not share them", to_string(once), to_string(each));
}

/// Chosen by simulation.
std::string staged_text(const workload_plan& plan) {
  if (plan.staged_units == 1) return "";
  return fmt::format("staged {} units behind each other, because loads take longer than forward visits\n",
                     plan.staged_units);
}

std::string waiting_text(const workload_plan& plan) {
  const std::size_t all = plan.models.size(), waiting = plan.waiting.size();
  return waiting == 0
             ? ""
             : fmt::format(" for {} of {} models; the others wait until models have ended", all - waiting, all);
}

}  // namespace

std::string to_table(const workload_plan& plan, std::span<const device_info> devices) {
  std::string text;
  for (auto m = plan.models.begin(); m != plan.models.end(); ++m) {
    const auto before = [&](const model_plan& other) { return same_plan(other, *m); };
    if (std::find_if(plan.models.begin(), m, before) == m) text += model_text(plan, *m);
  }
  return text + device_table(devices) +
         fmt::format("\nstaging bytes {}  computing bytes {}  smallest sufficient memory {} ({} bytes)\n",
                     to_string(plan.staging_bytes), to_string(plan.computing_bytes), to_string(plan.sufficient),
                     plan.sufficient.value()) +
         staged_text(plan) +
         fmt::format("host {}{}{}\n", to_string(plan.host_needed), waiting_text(plan), sharing_text(plan));
}

std::string to_line(const std::optional<disk_room>& room) {
  if (!room) return "";
  return fmt::format("disk {} for the first checkpoints  at most {}{}\n", to_string(room->first), to_string(room->most),
                     room->free ? fmt::format("  free {}", to_string(*room->free)) : "");
}

std::string to_line(const rehearsal_summary& r, bool overhead) {
  return fmt::format("rehearsed {} steps in {}  spread of a unit {:.1f} %  overhead {}\n", r.steps,
                     to_string(r.makespan), r.spread * 100,
                     overhead ? fmt::format("{:.1f} %", (r.overhead - 1) * 100) : "-");
}

std::string to_lines(const forecast& f, const run_terms& terms, bool rehearsed) {
  const std::string spent = expense_line(f.spent.all, terms);
  const bool by_pilot = !rehearsed && (f.spent.all.cost || f.spent.all.joules);
  const double share = f.makespan > duration::zero() ? seconds(f.limits.best()) / seconds(f.makespan) : 0;
  return wrap(to_line(f.limits), widest_line, 0) +
         fmt::format("policy {}  predicted makespan {}{}  bound {} ({})  efficiency {:.0f} %\n", f.policy,
                     to_string(f.makespan),
                     f.shortened > 1 ? fmt::format(" (from a {}th of the steps)", f.shortened) : "",
                     to_string(f.limits.best()), f.limits.best_name(), share * 100) +
         (spent.empty() ? "" : spent + "\n") +
         (by_pilot ? "by one measurement of each layer; --rehearse 6 measures whole steps\n" : "");
}

}  // namespace hydra::apps
