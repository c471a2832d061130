#include "actors/session/session_state.hpp"

#include "actors/admission/comparisons.hpp"
#include "actors/admission/device_choice.hpp"
#include "actors/admission/prediction.hpp"
#include "actors/admission/recorded_choice.hpp"
#include "actors/admission/staged_units.hpp"
#include "actors/run/search_setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

/// Why a plan cannot be made; empty: it was. Passes on that the user has interrupted it.
fault fault_of(const std::function<void()>& plan) try {
  plan();
  return {};
} catch (const fault_error& e) {
  if (e.what_happened().code == fault_code::interrupted) {
    throw;
  }
  return e.what_happened();
}

bool leaves_side_by_side(const model_description& m) { return m.chain.open.side_by_side && m.chain.pieces > 1; }

bool is_side_by_side(const std::vector<model_description>& models) {
  return std::ranges::any_of(models, [](const auto& m) { return leaves_side_by_side(m) && m.chain.side_by_side; });
}

/// Of each choice of two devices or more; `beside`: of the same devices, side by side.
void keep_faster(device_choices& in_turn, const device_choices& beside) {
  for (std::size_t i = 0; i < std::min(in_turn.all.size(), beside.all.size()); ++i) {
    const auto& there = beside.all[i];
    const auto& here = in_turn.all[i];
    const auto devices = std::accumulate(there.counts.begin(), there.counts.end(), std::size_t{0});
    const bool faster = there.expected && (!here.expected || there.expected->makespan < here.expected->makespan);
    if (devices > 1 && faster) {
      in_turn.all[i] = there;
    }
  }
}

}  // namespace

/// All devices, unless the run has a goal.
void session::state::plan_on_chosen_devices() try {
  const bool chosen_before = options.goal.is_set() && keep_recorded_devices();
  make_plan();
  if (!options.goal.is_set() || chosen_before) {
    return;
  }
  if (planned->begins.goes_on()) {
    note_on_devices = {"the run uses all devices: its objective and its deadline count when a run begins, and this one "
                       "goes on"};
    return;
  }
  choose_devices();
} catch (...) {
  planned.reset();
  throw;
}

/// Models that leave it to the planner have their pieces side by side, or get more of them, until they fit. Of a run
/// that begins paused, models that do not fit are given to others.
void session::state::make_plan() {
  byte_count needed;
  for (;;) {
    try {
      plan_all();
      return choose_side_by_side();
    } catch (const model_does_not_fit& e) {
      if (fits_side_by_side()) {
        return;
      }
      const bool less = needed == byte_count{} || e.sufficient < needed;  // else what is left whole needs the most
      needed = e.sufficient;
      if (less && divide_layers(e)) {
        continue;
      }
      if (!options.begin_paused || descriptions.size() == 1) {
        throw explained(e);
      }
      leave_out(e);
    }
  }
}

/// The models that leave it to the planner. False: there are none.
bool session::state::set_side_by_side(bool beside) {
  bool any = false;
  for (auto& m : descriptions) {
    if (leaves_side_by_side(m)) {
      m.chain = with_choice(m.chain, m.chain.pieces, beside);
      any = true;
    }
  }
  return any;
}

/// The sum of the pieces does not pass through each of them then. Else nothing has changed.
bool session::state::fits_side_by_side() {
  const auto in_turn = descriptions;
  if (set_side_by_side(true) && !fault_of([this] { plan_all(); })) {
    return true;
  }
  descriptions = in_turn;
  return false;
}

/// Models that leave it to the planner, planned in both ways.
void session::state::choose_side_by_side() {
  if (device_entries.size() < 2 || std::ranges::none_of(descriptions, leaves_side_by_side)) {
    return;
  }
  other_pieces = {descriptions, *planned, described};
  const auto why_not = fault_of([this] {
    descriptions = described;
    set_side_by_side(true);
    plan_all();
  });
  if (why_not) {
    exchange_pieces();
    other_pieces.reset();
  } else {
    exchange_pieces();
    take_faster_pieces([] {});
  }
}

/// With the pieces of layers in turn instead of side by side, or the other way round.
void session::state::exchange_pieces() {
  std::swap(descriptions, other_pieces->descriptions);
  std::swap(described, other_pieces->described);
  planned.swap(other_pieces->planned);
}

/// Those that are planned are in turn, the others side by side. Each is planned by `plan` before it is simulated.
void session::state::take_faster_pieces(const std::function<void()>& plan) {
  const auto in_turn = simulated_time(plan);
  exchange_pieces();
  const auto beside = simulated_time(plan);
  if (!beside || (in_turn && *in_turn <= *beside)) {
    exchange_pieces();
  }
}

/// Of what `plan` plans; none if it cannot be planned or simulated.
std::optional<duration> session::state::simulated_time(const std::function<void()>& plan) {
  std::optional<duration> makespan;
  fault_of([&] {
    plan();
    makespan = predict_shortly(run_of(*this)).makespan;
  });
  return makespan;
}

/// False if no model may be divided further.
bool session::state::divide_layers(const model_does_not_fit& e) {
  bool any = false;
  for (std::size_t i = 0; i < e.pieces.size(); ++i) {
    auto& chain = descriptions[i].chain;
    if (chain.open.pieces && e.pieces[i] > 0) {
      chain = with_choice(chain, e.pieces[i], chain.side_by_side);
      any = true;
    }
  }
  return any;
}

/// With why a model that leaves its pieces to the planner is not divided: what it would be refused for in two.
model_does_not_fit session::state::explained(const model_does_not_fit& e) {
  auto why = e.what_happened();
  const auto& chain = descriptions[e.model].chain;
  if (chain.open.pieces && chain.pieces == 1) {
    const auto whole = descriptions;
    descriptions[e.model].chain = with_choice(chain, 2, chain.side_by_side);
    const auto in_two = fault_of([this] { plan_all(); });
    if (in_two.code == fault_code::bad_input) {
      why.text += fmt::format(" Layers stay whole, in spite of pieces = \"auto\": {}", in_two.text);
    }
    descriptions = whole;
  }
  model_does_not_fit all(why, e.model);
  all.sufficient = e.sufficient;
  return all;
}

void session::state::leave_out(const model_does_not_fit& e) {
  auto place = e.model;
  for (const auto& before : left_out) {  // in their order
    place += before.place <= place ? 1 : 0;
  }
  const auto next = std::ranges::upper_bound(left_out, place, {}, &left_out_model::place);
  left_out.insert(next, {place, descriptions[e.model].name, e.what_happened()});
  descriptions.erase(descriptions.begin() + static_cast<std::ptrdiff_t>(e.model));
}

void session::state::plan_all() {
  const auto given = descriptions;
  for (auto& m : descriptions) {
    m.parallel = m.parallel.or_one();
  }
  try {
    planned = plan_workload(planning());
    described = given;
    choose_open_parallel();
    choose_staging();
  } catch (...) {
    descriptions = given;
    planned.reset();
    throw;
  }
}

/// Trials whose checkpoints have results that were not recorded: the file could not be written, or has lost lines.
void session::state::decide_missing_results() {
  if (!search.rule) {
    return;
  }
  std::vector<trial_result> results;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (const auto* saved = planned->begins.of(i)) {
      add_results(results, descriptions[i].name, saved->standing.history, search.metric);
    }
  }
  unrecorded = take_missing(search, recorded, std::move(results));
}

/// One that had given its memory to others when it was decided has not been saved as stopped.
void session::state::end_stopped_trials() {
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (const auto at = search.stopped.find(descriptions[i].name); at != search.stopped.end()) {
      planned->begins.end_after(i, at->second);
    }
  }
}

/// As before, if the run is resumed.
bool session::state::keep_recorded_devices() {
  const auto members =
      options.resume ? recorded_choice(options.output, names_of(device_entries)) : std::vector<std::size_t>{};
  if (members.empty()) {
    return false;
  }
  keep_devices(members);
  note_on_devices = {fmt::format("the run uses the devices that it chose when it began: {}",
                                 fmt::join(names_of(device_entries), ", "))};
  return true;
}

/// Those that meet the goal best; the others are not used.
void session::state::choose_devices() {
  const auto all = compare_devices();
  const auto best = best_choice(all.all, options.goal);
  if (!best) {
    throw goal_not_met(all, options.goal);
  }
  note_on_devices = {choice_note(all, *best, options.goal, options.terms)};
  by_goal = {all, names_of(device_entries), members_of(all.all[*best], all.classes)};
  if (by_goal->used.size() < device_entries.size()) {
    keep_devices(by_goal->used);
    plan_on_kept_devices();
  }
}

/// What was planned for all devices; nothing is measured again.
void session::state::plan_on_kept_devices() {
  const auto plan = [this] {
    plan_undivided();
    choose_open_parallel();
    choose_staging();
  };
  if (!other_pieces) {
    return plan();
  }
  other_pieces->planned->machines = planned->machines;
  if (is_side_by_side(descriptions)) {
    exchange_pieces();
  }
  if (device_entries.size() < 2) {
    return plan();
  }
  take_faster_pieces(plan);
}

/// With the pieces of layers in turn or side by side, whichever is faster on a choice, if that is left to the planner.
device_choices session::state::compare_devices() {
  if (!other_pieces) {
    return compare_devices_as_planned();
  }
  const bool beside = is_side_by_side(descriptions);
  const auto as_planned = compare_devices_as_planned();
  exchange_pieces();
  const auto others = compare_devices_as_planned();
  exchange_pieces();
  auto all = beside ? others : as_planned;
  keep_faster(all, beside ? as_planned : others);
  return all;
}

device_choices session::state::compare_devices_as_planned() {
  if (!planned->plan.waiting.empty()) {
    return hydra::compare_devices(run_of(*this), descriptions, terms());
  }
  const auto chosen_ways = std::pair{descriptions, planned};
  const auto restore = [&] { std::tie(descriptions, planned) = chosen_ways; };
  try {
    plan_undivided();
    auto all = hydra::compare_devices(run_of(*this), open_in(described), terms());
    restore();
    return all;
  } catch (...) {
    restore();
    throw;
  }
}

/// Without the steps in parallel that were chosen for all devices.
void session::state::plan_undivided() {
  descriptions = described;
  for (auto& m : descriptions) {
    m.parallel = m.parallel.or_one();
  }
  planned = plan_again(*planned, planning());
}

void session::state::keep_devices(const std::vector<std::size_t>& members) {
  const auto names = names_of(device_entries);
  const auto all = std::pair{std::exchange(device_entries, {}), std::exchange(link_rates, {})};
  const auto machines = planned ? std::exchange(planned->machines, {}) : std::vector<device_info>{};
  for (const auto i : members) {
    device_entries.push_back(all.first[i]);
    device_entries.back().name = names[i];
    if (!all.second.empty()) {
      link_rates.push_back(all.second[i]);
    }
    if (planned) {
      planned->machines.push_back(machines[i]);
    }
  }
}

/// What the descriptions leave open. A model that resumes keeps its replicas: they decide results.
std::vector<model_description> session::state::open_in(std::vector<model_description> given) const {
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i].parallel.replicas = planned->begins.of(i) ? descriptions[i].parallel.replicas : given[i].parallel.replicas;
    given[i].parallel.waves =
        planned->begins.keeps_cuts(i) ? planned->plan.models[i].waves : given[i].parallel.waves;
  }
  return given;
}

/// The fastest of the ways that they leave open.
void session::state::choose_open_parallel() {
  if (std::ranges::all_of(described, [](const auto& m) { return m.parallel.chosen(); })) {
    return;
  }
  const auto run = run_of(*this);
  const auto ways = hydra::compare_parallel(run, open_choices(open_in(described), device_entries.size()));
  if (const auto best = choose_for_each(run, ways); best != ways.front().choice) {
    divide(best);
  }
}

void session::state::divide(const parallel_choice& chosen_ways) {
  std::ranges::transform(descriptions, chosen_ways.models, descriptions.begin(),
                         [](model_description m, const model_way& way) { return divided(std::move(m), way); });
  planned = plan_again(*planned, planning());
}

/// How many shards, and how many units a device stages.
void session::state::choose_staging() {
  std::uint32_t units = 1;
  if (most_staged_units(*planned) > 1) {
    // A node of a cluster gets models that other nodes have cut: it needs their staging bytes.
    const auto finer = options.begin_paused ? std::nullopt : choose_shards(run_of(*this));  // measures links
    if (finer) {
      divide(*finer);
    }
    units = choose_staged_units(run_of(*this));
  }
  stage_units(planned->plan, units, options.ablation, planned->machines);
}

}  // namespace hydra
