#include "actors/admission/planned_workload.hpp"

#include "actors/admission/identity.hpp"
#include "actors/admission/loaded_model.hpp"
#include "actors/simulation/planned_instance.hpp"
#include "partition/plan/sufficient.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/thread_supply.hpp"
#include "runtime/memory/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// The cap when the user does not say how much host memory a run may use.
byte_count default_host_memory() { return byte_count{available_host_memory().value() / 4 * 3}; }

std::size_t count_shards(const workload_plan& plan) {
  std::size_t n = 0;
  for (const auto& m : plan.models) {
    n += m.shards.size();
  }
  return n;
}

void measure(model_preparer& preparer, prepared_model& p, const model_description& m) try {
  preparer.measure(p, m);
} catch (const measuring_error& e) {
  if (e.what_happened().code != fault_code::out_of_memory) {
    throw;
  }
  throw fault_error(
      fault_code::does_not_fit,
      fmt::format("model '{}': a layer of it cannot be measured: {}; make its largest layer smaller, or use "
                  "more micro_batches",
                  m.name, e.what_happened().text));
}

/// The place of the model that needs most of a device, alone.
std::size_t largest_of(std::span<const plan_request> requests) {
  const auto budgets = budgets_alone(requests);
  return static_cast<std::size_t>(std::ranges::max_element(budgets) - budgets.begin());
}

/// Calls what is about the model at this place.
template <class Action>
auto about_model(std::size_t place, const Action& action) try {
  return action();
} catch (const fault_error& e) {
  if (e.what_happened().code != fault_code::does_not_fit) {
    throw;
  }
  throw model_does_not_fit(e.what_happened(), place);
}

/// What decides where shards are stepped, before rates are measured.
stepping_terms stepping_for(const session_options& options, std::span<const device_info> machines,
                            bool gaps_are_filled) {
  stepping_terms terms{.place = options.optimizer_on,
                       .host_threads = optimizer_threads(options),
                       .gaps_are_filled = gaps_are_filled};
  for (const auto& d : machines) {
    const bool slower = !terms.link.limited() || d.link < terms.link;
    terms.link = d.link.limited() && slower ? d.link : terms.link;
    terms.equally_fast = terms.equally_fast && d.speed == machines.front().speed;
  }
  return terms;
}

/// The stages in their order: prepare, find checkpoints, plan.
class planner {
 public:
  explicit planner(const planning_setup& setup, planned_workload made = {}) : setup_(setup), made_(std::move(made)) {}

  planned_workload planned() {
    check_not_empty();
    const auto cap = setup_.options.host_memory;
    made_.host_cap = cap > byte_count{} ? cap : default_host_memory();
    prepare_models();
    find_checkpoints();
    auto made = finished([this] { admit(); });
    note_shards(made);
    for (const auto& note : made.notes()) {
      setup_.log->info("{}", note);
    }
    note_waves(made);
    return made;
  }

  /// Nothing is measured; updates are made on the host, unless a model has whole steps as before.
  planned_workload planned_again() {
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      auto& p = made_.prepared[i];
      if (const auto* rule = std::get_if<balanced_cut>(&setup_.models[i].cuts)) {
        p.cuts = *rule;
      }
      if (setup_.models[i].parallel != parallel_options{}) {
        p.stepping = stepping_for(setup_.options, made_.machines, gaps_are_filled());
        p.stepping.place = optimizer_place::host;
        p.profile_for.fill(p.profile);
      }
      p.identity = identity_of(setup_.models[i], p, setup_.options.seed);
    }
    return finished([this] {
      shorten_evaluations(made_.plan, made_.host_cap, made_.machines.size());
      check_host(made_.plan, made_.host_cap);
    });
  }

 private:
  template <class Host>
  planned_workload finished(const Host& fit_host) {
    made_.plan = plan_resumed(made_.begins, [this] { return plan_models(); });
    fit_host();
    scale_remaining_times();
    name_profiles();
    return std::move(made_);
  }

  /// Evaluations are made shorter only if all models fit then: the time of those that wait is longer.
  void admit() {
    auto whole = made_.plan;
    shorten_evaluations(whole, made_.host_cap, made_.machines.size());
    if (whole.host_needed <= made_.host_cap) {
      made_.plan = std::move(whole);
      return;
    }
    std::vector<double> priorities;
    std::ranges::transform(setup_.models, std::back_inserter(priorities), &model_description::priority);
    admit_models(made_.plan, priorities, made_.host_cap, made_.machines.size());
    setup_.log->info("{} of {} models fit into {} of host memory; the others wait until one of them has ended",
                     setup_.models.size() - made_.plan.waiting.size(), setup_.models.size(), to_string(made_.host_cap));
  }

  void note_waves(const planned_workload& made) const {
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      if (const auto kept = made.plan.models[i].waves; kept != setup_.models[i].parallel.waves) {
        setup_.log->info(
            "{} continues inside a step, and until the end of this run with the waves of its checkpoint: {} instead "
            "of {}",
            setup_.models[i].name, kept, setup_.models[i].parallel.waves);
      }
    }
  }

  /// A chain has no more shards than layers.
  void note_shards(planned_workload& made) const {
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      const auto* asked = std::get_if<balanced_cut>(&setup_.models[i].cuts);
      const auto& shards = made.plan.models[i].shards;
      if (asked && shards.size() < asked->shards && !made.begins.keeps_cuts(i)) {
        made.prepared[i].notes.push_back(fmt::format("model '{}': {} shards were asked for, its {} layers make {}",
                                                     setup_.models[i].name, asked->shards, shards.back().last_layer,
                                                     shards.size()));
      }
    }
  }

  void check_not_empty() const {
    if (setup_.models.empty()) {
      throw fault_error(fault_code::bad_input, "the workload has no model; add one by session::add_model");
    }
    if (setup_.devices.empty()) {
      throw fault_error(fault_code::bad_input, "the workload has no device; add one by session::add_devices");
    }
  }

  bool gaps_are_filled() const { return setup_.models.size() > made_.machines.size(); }

  /// On other device objects: those of the run start with empty queues and counters.
  void prepare_models() {
    const device_set own(setup_.devices, setup_.log, setup_.options.stop_limit);
    require_threads(setup_.threads, "the run");  // asked again when it begins: now before minutes of measuring
    made_.machines = own.infos();
    auto preparing = hydra::preparing(setup_.options, made_.machines, gaps_are_filled());
    const auto measured = own.pointers();
    pilot measures(measured, setup_.options.stall_limit);
    preparing.setting = made_.setting = measures.setting();
    preparing.host = made_.host_cap;
    preparing.log = setup_.log;
    preparing.patience = setup_.patience;
    model_preparer preparer(std::move(preparing), [&]() -> pilot& { return measures; });
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {  // all of them before minutes of measuring
      setup_.require_uninterrupted();
      made_.prepared.push_back(about_model(i, [&] { return preparer.opened(setup_.models[i]); }));
    }
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      setup_.require_uninterrupted();
      measure_model(preparer, i);
    }
    made_.pilot_time = preparer.pilot_time();
    made_.device_updates = preparer.device_updates();
  }

  /// A layer may be too large to be measured.
  void measure_model(model_preparer& preparer, std::size_t i) try {
    about_model(i, [&] { measure(preparer, made_.prepared[i], setup_.models[i]); });
  } catch (model_does_not_fit& e) {
    const auto& p = made_.prepared[i];
    e.pieces.assign(setup_.models.size(), 0);
    e.pieces[i] = more_pieces(*p.model, p.cuts, setup_.models[i].optimizer.kind);
    throw;
  }

  void find_checkpoints() {
    std::vector<resumed_model> all;
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      all.push_back(resumed(setup_.models[i], made_.prepared[i]));
    }
    made_.begins = resumption(setup_.options.resume ? setup_.options.output / "checkpoints" : "", std::move(all));
  }

  workload_plan plan_with(stepping_space space) const {
    std::vector<plan_request> requests;
    for (std::size_t i = 0; i < setup_.models.size(); ++i) {
      const auto& p = made_.prepared[i];
      requests.push_back(request_for(setup_.models[i], p, made_.begins.cuts_for(i, p.cuts), space));
      requests.back().waves = made_.begins.waves_for(i, setup_.models[i].parallel);
    }
    const auto& parts = setup_.options.ablation;
    const bool saves = parts.save && parts.cache;
    auto plan = planned_with(requests, saves);
    return saves && !fits_host(plan) ? make_plan(requests, made_.machines) : plan;  // more boundaries, more bytes
  }

  workload_plan planned_with(std::span<const plan_request> requests, bool saves) const try {
    return make_plan(requests, made_.machines, saves);
  } catch (const memory_refusal& e) {
    model_does_not_fit refusal(e.what_happened(), largest_of(requests));
    refusal.sufficient = e.sufficient;
    refusal.pieces = pieces_that_may_fit(requests, refusal.model);
    throw refusal;
  }

  /// Of each model that does not fit alone; if all do, of the largest one.
  std::vector<std::uint32_t> pieces_that_may_fit(std::span<const plan_request> requests, std::size_t largest) const {
    const auto usable = std::ranges::min(made_.machines | std::views::transform(&device_info::usable));
    const auto alone = budgets_alone(requests);
    std::vector<std::uint32_t> pieces(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      pieces[i] = alone[i] > usable || i == largest ? more_pieces(requests[i], alone[i], usable) : 0;
    }
    return pieces;
  }

  bool fits_host(workload_plan plan) const {
    shorten_evaluations(plan, made_.host_cap, made_.machines.size());
    return plan.host_needed <= made_.host_cap;
  }

  /// Steps on devices by rates must not make a workload need more than steps on the host: no more shards, no more
  /// device memory, no host memory that is not available.
  workload_plan plan_models() const {
    auto at_home = plan_with(stepping_space::none);
    const auto by_rates = [](const prepared_model& p) { return p.stepping.place == optimizer_place::automatic; };
    if (std::ranges::none_of(made_.prepared, by_rates)) {
      return at_home;
    }
    for (const auto space : {stepping_space::made, stepping_space::left}) {
      if (auto split = split_plan(space, at_home)) {
        return *std::move(split);
      }
    }
    return at_home;
  }

  std::optional<workload_plan> split_plan(stepping_space space, const workload_plan& at_home) const {
    try {
      auto split = plan_with(space);
      shorten_evaluations(split, made_.host_cap, made_.machines.size());
      if (count_shards(split) > count_shards(at_home) || split.host_needed > made_.host_cap) {
        return std::nullopt;
      }
      split.sufficient = at_home.sufficient;
      for (std::size_t i = 0; i < split.models.size(); ++i) {
        split.models[i].sufficient = at_home.models[i].sufficient;
      }
      return split;
    } catch (const fault_error&) {
      return std::nullopt;  // with steps on the host it fits
    }
  }

  /// What is left of a model is given in wall time, so that one whose copies cannot be hidden counts as the longer one
  /// it is.
  void scale_remaining_times() {
    std::vector<sharded_model_ptr> cut;
    for (std::size_t i = 0; i < made_.prepared.size(); ++i) {
      cut.push_back(cut_model(setup_.models[i], made_.prepared[i], made_.plan.models[i], setup_.options.seed));
    }
    const auto scales = remaining_scales(cut, made_.machines);
    for (std::size_t i = 0; i < made_.prepared.size(); ++i) {
      made_.prepared[i].remaining_scale = scales[i];
    }
  }

  void name_profiles() {
    for (std::size_t i = 0; i < made_.prepared.size(); ++i) {
      made_.plan.models[i].profile = made_.prepared[i].profile_key;
      made_.plan.profiles.emplace(made_.prepared[i].profile_key, made_.prepared[i].measured);
    }
  }

  const planning_setup& setup_;
  planned_workload made_;
};

}  // namespace

void planning_setup::require_uninterrupted() const {
  if (interrupts.interrupted()) {
    throw fault_error(fault_code::interrupted, "interrupted before anything was trained");
  }
}

std::vector<std::string> planned_workload::notes() const {
  std::vector<std::string> all = begins.notes();
  for (const auto& p : prepared) {
    add_notes(all, p.notes);
  }
  return all;
}

int optimizer_threads(const session_options& options) {
  return options.optimizer_threads > 0 ? options.optimizer_threads
                                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2);
}

preparer_setup preparing(const session_options& options, std::span<const device_info> machines, bool gaps_are_filled) {
  return {.seed = options.seed, .setting = {}, .numbers = common_formats(machines),
          .stepping = stepping_for(options, machines, gaps_are_filled),
          .share = options.ablation.share, .devices = machines.size()};
}

planned_workload plan_workload(const planning_setup& setup) { return planner(setup).planned(); }

planned_workload plan_again(const planned_workload& measured, const planning_setup& setup) {
  return planner(setup, measured).planned_again();
}

void require_planned_memory(const planned_workload& planned, const std::vector<device_info>& now) {
  const auto needed = planned.plan.staging_bytes + planned.plan.computing_bytes;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].usable() < needed) {
      throw fault_error(
          fault_code::does_not_fit,
          fmt::format("device {} has {} for the run, but had {} when this was planned, of which it needs {}: "
                      "something else has taken its memory; start again, or end what else uses it",
                      now[i].name, to_string(now[i].usable()), to_string(planned.machines[i].usable()),
                      to_string(needed)));
    }
  }
}

}  // namespace hydra
