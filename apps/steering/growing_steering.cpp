#include "apps/steering/growing_steering.hpp"

#include "actors/selection/pbt.hpp"
#include "apps/run_folder/added_models.hpp"
#include "apps/run_folder/run_folder.hpp"
#include "apps/run_folder/saved_weights.hpp"
#include "apps/steering/clone_name.hpp"
#include "apps/steering/status_json.hpp"
#include "apps/workload/override.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/tell_line.hpp"
#include "runtime/device/cpu/queue_threads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <utility>

namespace hydra::apps {

namespace {

bool has_name(const model_entry& m, const std::string& name) { return m.description.name == name; }

/// A person may have given the name to another model.
void check_is_copy(const model_entry& m, const trial_copy& wanted) {
  const std::filesystem::path of = m.description.begins.parent_path();
  if (of.filename() == checkpoints_of({}, wanted.of).filename()) return;
  throw fault_error{fault_code::bad_input, "a model that was added has its name"};
}

/// The search of the run names its copies itself.
void check_names(const value_list& models, const std::optional<search_settings>& search) {
  for (const std::string& name : names_of(models))
    if (search && names_a_copy(*search, name))
      throw fault_error{fault_code::bad_input,
                        fmt::format("model.name: \"{}\" is for a copy that the search begins; choose "
                                    "another name, such as \"{}.2\"",
                                    shown(name), name)};
}

void begin_from(value_list& model, const std::filesystem::path& checkpoint) {
  auto& keys = std::get<value_table>(model.front().content);
  keys.set("begins", text_value(checkpoint.string(), keys.find("name")->where));
}

/// One that has to wait for memory would be refused later.
void check_steps(const model_description& d, const place& where) {
  if (d.begins.empty() || d.steps == 0) return;
  const std::uint32_t has = steps_in(read_checkpoint(d.begins));
  if (has >= d.steps)
    refuse(where, "model.steps",
           fmt::format("{} begins with {} steps done, and of {} none would be left; give more steps", d.name, has,
                       d.steps));
}

/// The steps that it is trained for would be chosen by the planner, and before a run only.
void check_parallel(const model_entry& m) {
  if (m.description.parallel.chosen() && !m.description.chain.open.any()) return;
  refuse(m.keys.where, "model.parallel", "\"auto\" is for models that a run starts with; give numbers");
}

}  // namespace

growing_steering::growing_steering(workload w, model_opener& opener)
    : opener_{opener},
      workload_{std::move(w)},
      added_{read_added(workload_.options.output)},
      stopped_{workload_.options.output} {}

/// Only what the run has accepted is recorded.
void growing_steering::stop(const std::string& model) {
  end(model);
  stopped_.add(model);
}

void growing_steering::ended(const report& r) {
  const std::scoped_lock lock{joining_, ending_};
  try {
    drop_refused();
  } catch (...) {
    tell_line(fmt::format("a model that was refused is still in {}: {}", added_file,
                          to_fault(std::current_exception()).text));
  }
  last_ = last_status(r);
  for (model_now& m : last_->models) {
    const auto known = std::ranges::find_if(workload_.models, [&](const auto& w) { return has_name(w, m.name); });
    const std::uint32_t steps = known == workload_.models.end() ? 0 : known->description.steps;
    if (steps > 0 || m.phase == model_phase::finished) m.of = steps > 0 ? steps : m.steps;
  }
}

nlohmann::ordered_json growing_steering::status() {
  {
    const std::lock_guard lock{ending_};
    if (last_) return to_json(*last_);
  }
  return to_json(now());
}

void growing_steering::quit() {
  if (!quitting_.exchange(true)) interrupt();  // a second one would end the run without saving
}

std::vector<std::string> growing_steering::add(const std::string& toml) {
  const value_list models = parse_models(toml, std::string{given_workload});
  const std::lock_guard lock{joining_};
  check_names(models, workload_.search);
  return join(models);
}

std::string growing_steering::clone(const std::string& model, const std::vector<std::string>& changes) {
  std::unique_lock lock{joining_};
  value_list made = changed_copy(free_name(model), model, changes);
  check_names(made, workload_.search);
  lock.unlock();  // a state may come late
  const std::filesystem::path state = saved(model);
  lock.lock();
  if (find(names_of(made).front())) made = changed_copy(free_name(model), model, changes);
  begin_from(made, state);
  return join(made).front();
}

void growing_steering::copy(const trial_copy& wanted) {
  std::unique_lock lock{joining_};
  if (const model_entry* const there = find(wanted.trial)) return check_is_copy(*there, wanted);
  std::vector<std::string> changes;
  for (const key_value& k : wanted.keys) changes.push_back(fmt::format("{}={}", k.key, k.value));
  value_list made = changed_copy(wanted.trial, wanted.of, changes);
  lock.unlock();
  begin_from(made, saved(wanted.of, wanted.steps));
  lock.lock();
  join(made);
}

/// A checkpoint of the model, after so many steps if that is asked for.
std::filesystem::path growing_steering::saved(const std::string& model, std::optional<std::uint32_t> steps) {
  std::filesystem::path kept = keep(model, steps);
  const std::uint32_t has = steps_in(read_checkpoint(kept));
  if (steps && has != *steps)
    throw fault_error{fault_code::bad_input, fmt::format("{} was to wait after {} steps, but its newest state is that "
                                                         "after {}: it was stopped, or is not observed any more",
                                                         model, *steps, has)};
  return kept;
}

value_list growing_steering::changed_copy(const std::string& name, const std::string& model,
                                          const std::vector<std::string>& changes) const {
  value_table root;
  root.set("model", {.where = {}, .written = {}, .content = value_list{copy_of(model)}});
  auto& keys = std::get<value_table>(std::get<value_list>(root.find("model")->content).front().content);
  keys.set("name", text_value(name, keys.find("name")->where));
  std::vector<key_override> overrides;
  for (const std::string& change : changes) {
    overrides.push_back(parse_override(change, ""));
    overrides.back().path = "model." + overrides.back().path;
    move_to(overrides.back().is, {std::make_shared<std::string>(change), 0});
  }
  apply_to_members(root, apply_overrides(root, overrides));
  auto& made = std::get<value_list>(root.find("model")->content);
  with_models(workload_, made);  // wrong changes are refused before anything is saved
  return std::move(made);
}

value growing_steering::copy_of(const std::string& model) const {
  const auto found = std::ranges::find_if(workload_.models, [&](const auto& m) { return has_name(m, model); });
  const auto& all =
      std::get<value_list>(workload_.as_run.find("model")->content);  // in the same order, with what was chosen
  if (found != workload_.models.end()) return all.at(static_cast<std::size_t>(found - workload_.models.begin()));
  std::vector<std::string> known;
  for (const model_entry& m : workload_.models) known.push_back(m.description.name);
  throw fault_error{fault_code::bad_input,
                    fmt::format("there is no model \"{}\"{}", shown(model), known_instead(model, known))};
}

std::string growing_steering::free_name(const std::string& like) const {
  const model_entry* const source = find(like);
  return clone_name(like, source && !source->description.begins.empty(),
                    names_of(std::get<value_list>(workload_.as_run.find("model")->content)));
}

const model_entry* growing_steering::find(const std::string& model) const {
  const auto found = std::ranges::find_if(workload_.models, [&](const auto& m) { return has_name(m, model); });
  return found == workload_.models.end() ? nullptr : &*found;
}

/// All are checked before the first one joins. One that the run refuses is removed from the record again, with those
/// behind it.
std::vector<std::string> growing_steering::join(const value_list& models) {
  use_threads(1);  // what is read for them begins no threads of LibTorch's, of which there may be none
  drop_refused();
  const auto known = static_cast<std::ptrdiff_t>(workload_.models.size());
  const workload more = with_models(workload_, models);
  const std::vector<model_entry> written(more.models.begin() + known, more.models.end());
  std::vector<model_description> descriptions;
  for (const model_entry& m : written) {
    check_parallel(m);
    descriptions.push_back(opener_.open(m, written));
    check_steps(descriptions.back(), m.keys.where);
  }
  now();  // refuses if no run is under way
  value_list added = added_;
  added.insert(added.end(), models.begin(), models.end());
  std::vector<std::string> names;
  try {
    record_added(more.options.output, added);  // first: what is recorded there is expected in the other
    record_workload(more.options.output, more.expanded);
    for (std::size_t i = 0; i < descriptions.size(); ++i) {
      const std::string name = descriptions[i].name;
      queue({std::move(descriptions[i]), models[i], [this, name](const fault& why) { note_refused(name, why); }});
      names.push_back(name);
    }
  } catch (...) {
    const auto refused = static_cast<std::ptrdiff_t>(descriptions.size() - names.size());
    added.erase(added.end() - refused, added.end());
    workload_ = names.empty() ? workload_ : with_models(workload_, value_list(models.begin(), models.end() - refused));
    added_ = added;
    record_workload(workload_.options.output, workload_.expanded);
    record_added(workload_.options.output, added_);
    if (names.empty()) throw;
    const fault why = to_fault(std::current_exception());
    throw fault_error{why.code, fmt::format("{} added, but not the next one: {}", fmt::join(names, ", "), why.text)};
  }
  workload_ = more;
  added_ = std::move(added);
  return names;
}

void growing_steering::note_refused(const std::string& model, const fault& why) {
  if (why.code == fault_code::refused) return;  // the run is being halted: one that continues has it
  const std::lock_guard lock{refusing_};
  refused_.push_back(model);
}

void growing_steering::drop_refused() {
  std::unique_lock lock{refusing_};
  const std::vector<std::string> refused = refused_;
  lock.unlock();
  if (refused.empty()) return;
  const auto is_refused = [&](const std::string& name) { return std::ranges::count(refused, name) > 0; };
  workload_ = without_models(workload_, refused);
  std::erase_if(added_, [&](const value& m) { return is_refused(names_of({m}).at(0)); });
  record_workload(workload_.options.output, workload_.expanded);
  record_added(workload_.options.output, added_);
  std::ranges::for_each(refused, [&](const std::string& name) { stopped_.remove(name); });
  lock.lock();
  std::erase_if(refused_, is_refused);
}

}  // namespace hydra::apps
