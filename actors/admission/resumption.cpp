#include "actors/admission/resumption.hpp"

#include "actors/admission/beginning.hpp"
#include "actors/admission/identity.hpp"
#include "models/parameter_layout.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace hydra {

namespace {

bool inside_step(const std::optional<saved_model>& m) { return m && !m->any_cuts(); }

[[noreturn]] void refuse_cuts(const saved_model& m) {
  throw fault_error(
      fault_code::does_not_fit,
      fmt::format("model '{}' cannot continue with these cuts or devices: its only checkpoint, {}, was "
                  "saved inside step {} of shards that start with layers {}{}; resume it with these cuts on "
                  "devices where they fit",
                  m.name, m.folder.string(), m.standing.next.step + 1, fmt::join(m.cuts, ", "),
                  m.abreast > 1 ? ", pieces side by side" : ""));
}

[[noreturn]] void refuse_steps(const saved_model& m, const resumed_model& now, const std::string& why) {
  throw fault_error(fault_code::bad_input,
                    fmt::format("model '{}' cannot continue from {} with {} steps instead of {}: {}", now.name,
                                m.folder.string(),
                                now.steps, m.steps, why));
}

/// Another number of steps must not change the steps that are done, nor that of which the learning rate has been used.
void check_steps(const saved_model& m, const resumed_model& now) {
  const auto begun = m.standing.begun_steps();
  if (now.steps < begun) {
    refuse_steps(m, now, fmt::format("{} steps are done; give that many or more", begun));
  }
  for (std::uint32_t i = 0; i < begun; ++i) {
    if (schedule_factor(now.schedule, i, m.steps) != schedule_factor(now.schedule, i, now.steps)) {
      refuse_steps(
          m, now,
          "under its schedule the learning rate of the steps that are done depends on the number of all steps; "
          "only under a constant schedule may it be another");
    }
  }
}

/// With the new number of steps the model would not have been evaluated at the old end. A kept best state is not
/// removed.
void forget_old_end(saved_model& m, const resumed_model& now) {
  auto& reported = m.standing.history;
  if (now.steps == m.steps || !reported.evaluated_after(m.steps)) {
    return;
  }
  const auto every = now.validate.every_steps;
  const bool in_turn = every > 0 && m.steps % every == 0;
  if (!in_turn && !(now.validate.keep_best && reported.last_is_best())) {
    reported.evaluations.pop_back();
  }
}

void check_identity(const saved_model& m, const resumed_model& now) {
  if (m.steps != now.steps) {
    check_steps(m, now);
  }
  auto other = difference_of(with_steps(m.identity, now.steps), now.identity);
  if (other.starts_with("weights: ") && !now.weights.empty()) {
    other += fmt::format(": {} has other values than those that it began with", now.weights);
  }
  if (!other.empty()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("model '{}' cannot continue from {}: {}; resume it as it was, or train it in "
                                  "another folder",
                                  now.name, m.folder.string(), other));
  }
}

/// "step 20 (best-step-20)".
std::string place_of(const std::optional<saved_model>& m) {
  return m ? fmt::format("step {} ({})", m->standing.next.step, m->folder.filename().string()) : "the beginning";
}

/// 400 of "000012-step-400.damaged"; none for what was not set aside.
std::optional<std::uint64_t> step_set_aside(const std::string& name) {
  constexpr std::string_view mark = "-step-";
  const auto at = name.find(mark), end = name.find(".damaged", at);
  if (at == std::string::npos || end == std::string::npos) {
    return std::nullopt;
  }
  std::uint64_t step = 0;
  std::from_chars(name.data() + at + mark.size(), name.data() + end, step);
  return step;
}

/// Names of states that an earlier start has set aside, and that were newer than what the model continues from.
std::vector<std::string> set_aside_before(const std::filesystem::path& of_model, const std::optional<saved_model>& m) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(of_model, none)) {
    auto name = entry.path().filename().string();
    if (const auto step = step_set_aside(name); step && (!m || *step > m->standing.next.step)) {
      names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

resumed_model resumed(const model_description& m, const prepared_model& p) {
  resumed_model r{.name = m.name,
                  .identity = p.identity,
                  .cuts = p.cuts,
                  .abreast = p.model->side_by_side() ? p.model->pieces() : 1,
                  .meets = !m.replicas_until.empty(),
                  .steps = p.steps,
                  .schedule = m.optimizer.schedule,
                  .validate = m.validate.value_or(validation_options{}),
                  .begins = m.begins,
                  .clips = m.optimizer.clip_norm > 0,
                  .weights = p.model->weights() ? p.model->weights()->files() : ""};
  const parameter_layout layout(*p.model, 0, p.model->size());
  for (const auto& each : layout.parameters()) {
    if (each.tied_to.empty()) {
      (each.frozen ? r.frozen : r.trained).push_back(each.name);
    }
  }
  return r;
}

resumption::resumption(std::filesystem::path root, std::vector<resumed_model> models)
    : root_(std::move(root)), models_(std::move(models)), saved_(models_.size()) {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    find(i, checkpoint_use::same_cuts);
    if (inside_step(saved_[i]) && !keeps_cuts(i)) {
      find(i, checkpoint_use::other_cuts);
    }
  }
  tell_of_earlier_damage();
  tell_beginners();
}

/// A start that has set states aside may have ended before it could say so.
void resumption::tell_of_earlier_damage() {
  for (std::size_t i = 0; i < models_.size() && !root_.empty(); ++i) {
    const auto names = set_aside_before(checkpoints_of(root_, models_[i].name), saved_[i]);
    if (!names.empty() && !gone_back_.contains(i)) {
      tell_going_back(i, {fmt::format("found damaged by an earlier start: {}", fmt::join(names, ", "))});
    }
  }
}

/// If no model has a checkpoint there is nothing to report: all models are new.
void resumption::tell_beginners() {
  if (root_.empty() || std::ranges::none_of(saved_, [](const auto& m) { return m.has_value(); })) {
    return;
  }
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (!saved_[i] && !gone_back_.contains(i)) {
      notes_.push_back(models_[i].name + " has no checkpoint: it starts from the beginning");
    }
  }
}

const saved_model* resumption::of(std::size_t model) const {
  return model < saved_.size() && saved_[model] ? &*saved_[model] : nullptr;
}

bool resumption::goes_on() const {
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    if (saved_[i] && saved_[i]->folder != models_[i].begins) {
      return true;
    }
  }
  return false;
}

bool resumption::keeps_cuts(std::size_t model) const {
  if (model >= saved_.size()) {
    return false;
  }
  const auto& now = models_[model];
  const auto* reported = std::get_if<cut_points>(&now.cuts);
  const auto& saved = saved_[model];
  return inside_step(saved) && saved->abreast == now.abreast && (!reported || *reported == saved->cuts);
}

cut_rule resumption::cuts_for(std::size_t model, const cut_rule& chosen) const {
  return keeps_cuts(model) ? cut_rule{saved_[model]->cuts} : chosen;
}

std::uint32_t resumption::waves_for(std::size_t model, const parallel_options& chosen) const {
  if (!keeps_cuts(model) || models_[model].meets) {
    return chosen.waves;
  }
  const auto& saved = *saved_[model];
  return saved.lanes() / chosen.replicas / saved.abreast;
}

bool resumption::give_up_cuts() {
  bool any = false;
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    if (inside_step(saved_[i])) {
      find(i, checkpoint_use::other_cuts);
      any = true;
    }
  }
  return any;
}

void resumption::find(std::size_t model, checkpoint_use use) {
  const auto& now = models_[model];
  std::vector<std::string> passed_over;
  if (!root_.empty()) {
    find_own(model, use, passed_over);
  }
  if (!saved_[model] && !now.begins.empty()) {
    saved_[model] = beginning(now);
  }
  if (!passed_over.empty()) {
    tell_going_back(model, passed_over);
  }
}

/// What is damaged costs its model some steps, never the run. What is whole, but needs its own cuts, is not given up.
void resumption::find_own(std::size_t model, checkpoint_use use, std::vector<std::string>& passed_over) {
  const auto& now = models_[model];
  auto found = newest_checkpoint(checkpoints_of(root_, now.name), use, passed_over);
  if (!found && saved_[model]) {
    refuse_cuts(*saved_[model]);
  }
  if (found) {
    check_identity(*found, now);
    forget_old_end(*found, now);
  }
  saved_[model] = std::move(found);
}

void resumption::tell_going_back(std::size_t model, const std::vector<std::string>& passed_over) {
  notes_.push_back(fmt::format("model '{}' goes back to {}: {}", models_[model].name, place_of(saved_[model]),
                               fmt::join(passed_over, "; ")));
  gone_back_.insert(model);
}

void resumption::end_after(std::size_t model, std::uint32_t steps) {
  if (!of(model)) {
    return;
  }
  auto& saved = *saved_[model];
  if (saved.standing.next.step == steps && saved.whole_step()) {
    saved.standing.stopped = true;
  }
}

bool is_at_end(const saved_model& saved, const sharded_model& m) {
  auto units = units_of({}, m);
  const auto standing = saved.begins(m.plan);
  const auto& next = standing.next;
  if (standing.stopped) {
    units.truncate(standing.begun_steps());
  }
  const bool evaluated = standing.history.evaluated_after(next.step);
  const auto stepped = [&](version_index v) { return v.value == units.steps(); };
  return units.at_end(units.position_in(next.step, next.done(0), evaluated, 0)) &&
         std::ranges::all_of(saved.versions, stepped);
}

}  // namespace hydra
