#include "actors/admission/model_joiner.hpp"

#include "actors/simulation/planned_instance.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/plan/shared_bases.hpp"
#include "runtime/memory/host_arena.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

namespace hydra {

namespace {

/// True for faults of device memory. A measurement also needs host memory, whose faults have another text, after what
/// was being done where.
bool is_of_device(const fault& f) {
  const auto of_host = to_fault(std::make_exception_ptr(std::bad_alloc{}));
  return f.code == fault_code::out_of_memory && !f.text.ends_with(of_host.text);
}

/// The plan of a model without the bases that others have brought.
template <class Predicate>
model_plan without_bases(model_plan plan, const Predicate& brought) {
  for (auto& s : plan.shards) {
    if (s.shared_base && brought(*s.shared_base)) {
      s.base = {};
    }
  }
  return plan;
}

/// A measurement has only the GPU memory that the run's devices leave. Any other fault is passed on unchanged.
[[noreturn]] void refuse_measuring(const std::string& model, const fault& why) {
  if (!is_of_device(why)) {
    throw fault_error(why);
  }
  throw fault_error(fault_code::does_not_fit,
                    fmt::format("model '{}' cannot join: a layer of it cannot be measured: the run's devices hold "
                                "their memory ({}); give them a smaller memory, or add the model before the run",
                                model, why.text));
}

void tell_position(spdlog::logger& log, const saved_model& saved, const model_entry& m) {
  const auto& standing = m.standing;
  if (is_at_end(saved, *m.what)) {
    log.info("{} has ended after step {} of {}", m.what->name, standing.next.step, m.what->steps);
  } else {
    log.info("{} continues after step {} of {} ({})", m.what->name, standing.next.step, m.what->steps,
             saved.folder.string());
  }
}

}  // namespace

model_joiner::model_joiner(joining_setup setup) : setup_(std::move(setup)), plan_(setup_.planned.plan) {
  auto& models = plan_.models;
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    cuts_[model_id{i}] = models[i].cuts();
    if (setup_.waiting.contains(model_id{i})) {
      models[i].shards = {};
    } else {
      pooled_.insert(model_id{i});
    }
  }
}

std::vector<model_entry> model_joiner::begin(const std::vector<model_description>& models) {
  std::vector<model_entry> all;
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    auto& p = setup_.planned.prepared[i];
    const auto* saved = setup_.planned.begins.of(i);
    const auto what = cut_model(models[i], p, setup_.planned.plan.models[i], setup_.options.seed);
    if (setup_.waiting.contains(model_id{i})) {
      p.data = {};
      all.push_back({.what = what, .memory = {}, .standing = saved ? saved->begins(what->plan) : model_standing{},
                     .data = {}, .facts = planned_facts(*p.model)});
      continue;
    }
    all.push_back(loaded(what, p.data, saved, model_id{i}));
    if (saved) {
      tell_position(*setup_.log, *saved, all.back());
    }
  }
  return all;
}

model_entry model_joiner::loaded(const sharded_model_ptr& m, const model_data& data, const saved_model* saved,
                                 model_id id) {
  const auto known = [this](const base_place& place) {
    const auto found = bases_.find(place);
    return found == bases_.end() ? nullptr : found->second.lock();
  };
  auto entry = load_model(m, data, saved, id, *setup_.arena, known);
  add_bases(bases_, entry);
  return entry;
}

model_entry model_joiner::prepare(const admission_request& r) {
  const auto& m = r.what;
  validate(m);
  check_keep_best(m, setup_.options.checkpoint.keep);
  forget(r);
  check_name(r);
  go_on(m.name);
  auto p = measured(m);
  go_on(m.name);
  forget_earlier_best(m.name, r.continues);
  auto begins = checkpoint_of(r, p);
  auto plan = plan_resumed(begins, [&] { return planned(r, p, begins); });
  const auto held = hold_bases();
  name_bases(plan, r.model, p.base, held);
  fit_host(plan);
  p.remaining_scale = remaining_scale(m, p, plan);
  go_on(m.name);
  auto entry = loaded(cut_model(m, p, plan, setup_.options.seed), p.data, begins.of(0), r.model);
  notes_.insert(notes_.end(), begins.notes().begin(), begins.notes().end());
  add_notes(notes_, p.notes);
  if (fits_pool(plan)) {
    pooled_.insert(r.model);
  }
  keep(r.model, std::move(plan), p);
  return entry;
}

/// As of models of the start: another run has left it in the folder, and this model would go on from there when it is
/// paused and resumed.
void model_joiner::forget_earlier_best(const std::string& model, bool continues) const {
  const auto& o = setup_.options;
  const bool anew = !o.resume && !o.begin_paused && !continues;
  if (anew && !o.output.empty() && o.checkpoint.keep > 0 &&
      forget_best(posix_file_system(), checkpoints_of(o.output / "checkpoints", model))) {
    setup_.log->warn("{} is trained anew: its best state of before is removed", model);
  }
}

resumption model_joiner::checkpoint_of(const admission_request& r, const prepared_model& p) const {
  const bool resumes = setup_.options.resume || r.continues;
  return {resumes ? setup_.options.output / "checkpoints" : "", {resumed(r.what, p)}};
}

void model_joiner::keep(model_id model, model_plan plan, const prepared_model& p) {
  plan_.profiles.emplace(p.profile_key, p.measured);
  cuts_[model] = plan.cuts();
  if (model.value < plan_.models.size()) {
    plan_.models[model.value] = std::move(plan);
  } else {
    plan_.models.push_back(std::move(plan));
  }
}

/// The bases that are in host memory now, and stay until the model has its memory.
model_joiner::held_bases model_joiner::hold_bases() const {
  held_bases held;
  for (const auto& [place, base] : bases_) {
    if (auto block = base.lock()) {
      held.emplace(place, std::move(block));
    }
  }
  return held;
}

/// A base that is not there any more is loaded again, under another name.
void model_joiner::name_bases(model_plan& plan, model_id model, const std::vector<std::string>& base,
                              const held_bases& held) {
  auto& known = plan_.bases;
  std::erase_if(known, [&](const auto& entry) { return !held.contains(entry.second); });
  hydra::name_bases(plan, base, model, known);
}

/// Names of models whose preparation failed are free.
void model_joiner::check_name(const admission_request& r) const {
  const auto& models = plan_.models;
  const auto same = std::ranges::find(models, r.what.name, &model_plan::name);
  if (same != models.end() && same - models.begin() != r.model.value) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}': name: another model of the run has it already", r.what.name));
  }
}

/// Models without memory keep their names: no other model may have them. One that was prepared, but has not joined, is
/// forgotten.
void model_joiner::forget(const admission_request& r) {
  auto& models = plan_.models;
  models.resize(std::min(models.size(), r.models));
  for (const auto& model : r.without_memory) {
    models.at(model.value).shards = {};
    pooled_.erase(model);
  }
}

void model_joiner::go_on(const std::string& name) const {
  if (cancelled_) {
    throw fault_error(fault_code::refused, fmt::format("model '{}': the run is being halted", name));
  }
}

/// As for the models of the run: its remaining time is a wall time.
double model_joiner::remaining_scale(const model_description& m, const prepared_model& p,
                                     const model_plan& plan) const {
  const std::vector cut{cut_model(m, p, plan, setup_.options.seed)};
  return remaining_scales(cut, setup_.planned.machines).front();
}

/// If anything has to be measured, new devices are created: those of the run are busy and hold their memory.
prepared_model model_joiner::measured(const model_description& m) {
  std::optional<device_set> devices;
  std::vector<device*> machines;
  std::optional<pilot> measures;
  constexpr bool others_run = true;
  auto preparing = hydra::preparing(setup_.options, setup_.planned.machines, others_run);
  preparing.setting = setup_.planned.setting;
  preparing.known = plan_.profiles;
  preparing.device_updates = setup_.planned.device_updates;
  preparing.host = setup_.arena->budget().limit();
  preparing.log = setup_.log;
  model_preparer preparer(std::move(preparing), [&]() -> pilot& {
    go_on(m.name);
    if (!measures) {
      make_devices(devices, m.name);
      machines = devices->pointers();
      measures.emplace(machines, setup_.options.stall_limit);
    }
    return *measures;
  });
  try {
    auto p = preparer.opened(m);
    preparer.measure(p, m);
    return p;
  } catch (const measuring_error& e) {
    refuse_measuring(m.name, e.what_happened());
  }
}

void model_joiner::make_devices(std::optional<device_set>& devices, const std::string& model) const {
  try {
    devices.emplace(setup_.devices, setup_.log, setup_.options.stop_limit, device_use::measure);
  } catch (const fault_error& e) {
    refuse_measuring(model, e.what_happened());
  }
}

model_plan model_joiner::planned(const admission_request& r, const prepared_model& p, const resumption& begins) const {
  const auto as_planned = r.model.value < r.models ? cut_rule{cuts_.at(r.model)} : p.cuts;
  auto request = request_for(r.what, p, begins.cuts_for(0, as_planned));
  request.waves = begins.waves_for(0, r.what.parallel);
  auto plan = plan_joining(request, setup_.planned.machines, plan_.staging_bytes);
  plan.profile = p.profile_key;
  plan.saving_room = plan_.models.empty() ? byte_count{} : plan_.models.front().saving_room;  // the same of all
  return plan;
}

/// Models without memory have no shards.
std::vector<model_plan> model_joiner::active() const {
  std::vector<model_plan> all;
  std::ranges::copy_if(plan_.models, std::back_inserter(all), [](const auto& m) { return !m.shards.empty(); });
  return all;
}

byte_count model_joiner::host_needed(const model_plan& joining) const {
  auto all = active();
  all.push_back(joining);
  const auto shared = host_demand(all, setup_.planned.machines.size());
  const auto pool = setup_.arena->pinned();
  return pool == byte_count{} ? shared : std::max(shared, pool + beside_pool(joining));
}

/// Whether the pinned pool has as many bytes as it and the models that are counted there take.
bool model_joiner::fits_pool(const model_plan& joining) const {
  std::vector<model_plan> pooled{joining};
  for (const auto& model : pooled_) {
    pooled.push_back(plan_.models[model.value]);
  }
  return host_transfers(pooled, setup_.planned.machines.size()) <= setup_.arena->pinned();
}

/// Host memory outside the pinned pool, which stays claimed as a whole: moments of the models that are counted there,
/// and whole models that are not. Bases that the former brought are in the pool.
byte_count model_joiner::beside_pool(const model_plan& joining) const {
  const auto devices = setup_.planned.machines.size();
  const auto in_pool = [&](const base_place& base) { return pooled_.contains(base.model); };
  std::vector<model_plan> outside;
  byte_count sum;
  const auto add = [&](const model_plan& m, bool pooled) {
    if (pooled) {
      sum += host_demand({&m, 1}, devices) - host_transfers({&m, 1}, devices);
    } else {
      outside.push_back(without_bases(m, in_pool));
    }
  };
  for (std::uint32_t i = 0; i < plan_.models.size(); ++i) {
    if (const auto& known = plan_.models[i]; !known.shards.empty()) {
      add(known, pooled_.contains(model_id{i}));
    }
  }
  add(joining, fits_pool(joining));
  return sum + host_demand(outside, devices);
}

void model_joiner::fit_host(model_plan& plan) const {
  const auto cap = setup_.arena->budget().limit();
  while (host_needed(plan) > cap && plan.evaluation.round > 1) {
    plan.evaluation.round = plan.evaluation.round / 2;
  }
  const auto needed = host_needed(plan);
  if (needed > cap) {
    check_alone(plan);
    throw fault_error(
        fault_code::out_of_memory,
        fmt::format("model '{}': with it the run needs {} ({} bytes) of host memory, but [host] memory allows {}",
                    plan.name, to_string(needed), needed.value(), to_string(cap)));
  }
  if (setup_.kept != nullptr) {
    setup_.kept->shrink_to(cap - needed);
  }
}

/// Throws {does_not_fit} if it would not even when it is the only one.
void model_joiner::check_alone(const model_plan& plan) const {
  const auto cap = setup_.arena->budget().limit();
  const auto alone = host_demand({&plan, 1}, setup_.planned.machines.size());
  if (alone > cap) {
    throw fault_error(
        fault_code::does_not_fit,
        fmt::format("model '{}' cannot join: alone it needs {} ({} bytes) of host memory, but [host] memory allows {}; "
                    "raise it, or make the model smaller",
                    plan.name, to_string(alone), alone.value(), to_string(cap)));
  }
}

}  // namespace hydra
