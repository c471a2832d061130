#pragma once
// The models of a run as the SUPERVISOR sees them: which wait for memory, which have it, and when it may be given back.

#include "actors/protocol/model_description.hpp"
#include "actors/protocol/release.hpp"
#include "actors/protocol/run_status.hpp"
#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// A command that takes effect later.
enum class due_command : std::uint8_t {
  none,
  stop,    ///< with the step that has begun
  resume,  ///< when its memory has been given back
};

/// A trial of a search that waits for its decision.
enum class trial_wait : std::uint8_t {
  none,
  with_memory,
  paused,  ///< or being paused: others need its memory
};

class model_phases {
 public:
  /// Their ids are their places.
  model_id add(model_description what, model_phase phase) {
    const model_id id{static_cast<std::uint32_t>(all_.size())};
    all_.push_back({.name = what.name,
                    .description = std::make_unique<model_description>(std::move(what)),
                    .phase = phase,
                    .has_memory = phase == model_phase::training,
                    .admissions = phase == model_phase::training ? 1u : 0u});
    return id;
  }
  std::optional<model_id> find(const std::string& name) const {
    const auto found = std::ranges::find(all_, name, &record::name);
    return found == all_.end() ? std::nullopt : std::optional(id_of(*found));
  }

  model_phase of(model_id model) const { return at(model).phase; }
  const std::string& name_of(model_id model) const { return at(model).name; }
  /// Position = model id.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    std::ranges::transform(all_, std::back_inserter(all), &record::name);
    return all;
  }
  bool has_ended(model_id model) const { return over(of(model)); }
  bool has_memory(model_id model) const { return at(model).has_memory; }
  /// Null: it will not be admitted again.
  model_description* description(model_id model) { return at(model).description.get(); }
  /// When it joined or left last.
  std::uint32_t steps(model_id model) const { return at(model).steps; }
  bool stops(model_id model) const {
    return at(model).phase == model_phase::training && at(model).due == due_command::stop;
  }
  trial_wait trial(model_id model) const { return at(model).trial; }
  bool waits_for_decision(model_id model) const {
    const auto& m = at(model);
    return m.trial == trial_wait::paused || is_held(m);
  }

  // -- events ------------------------------------------------------------------------------------------------------
  /// It has its memory, perhaps again.
  void admitted(model_id model) {
    auto& m = at(model);
    m = {.name = std::move(m.name),
         .description = std::move(m.description),
         .phase = model_phase::training,
         .has_memory = true,
         .admissions = m.admissions + 1};
  }
  void has_done(model_id model, std::uint32_t steps) { at(model).steps = steps; }
  void pauses(model_id model) { at(model).phase = model_phase::pausing; }
  /// It could not be saved and has joined the schedule again.
  void continues(model_id model) {
    auto& m = at(model);
    m.phase = model_phase::training;
    m.drained = false;
    m.due = due_command::none;
  }
  /// Where it ended is not kept: it can be resumed from its checkpoint.
  void reopens(model_id model) { at(model).phase = model_phase::paused; }
  /// It waits for memory again.
  void waits(model_id model) { at(model).phase = model_phase::waiting; }
  /// It has no task any more: paused, finished, stopped or failed. False if it had ended before.
  bool end(model_id model, model_phase how) {
    auto& m = at(model);
    if (over(m.phase)) {
      return false;
    }
    m.phase = how;
    if (over(how)) {
      m.due = due_command::none;
    }
    if (over(how) || m.trial == trial_wait::with_memory) {
      m.trial = trial_wait::none;
    }
    return true;
  }
  void forget(model_id model) { at(model).description.reset(); }
  void is_due(model_id model, due_command what) { at(model).due = what; }
  /// False if that was not due.
  bool take_back(model_id model, due_command what) {
    const bool was = at(model).due == what;
    at(model).due = was ? due_command::none : at(model).due;
    return was;
  }
  /// What it was before.
  trial_wait set_trial(model_id model, trial_wait how) { return std::exchange(at(model).trial, how); }
  /// No unit of it is on any device.
  void drained(model_id model) { at(model).drained = true; }
  void released(model_id model) {
    at(model).has_memory = false;
    ++releases_;
  }

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// The command to give its memory back, once, when that may be done.
  std::optional<release_model> release(model_id model) {
    auto& m = at(model);
    const bool left = m.phase == model_phase::paused || over(m.phase);
    if (!left || !m.has_memory || !m.drained || std::exchange(m.releasing, true)) {
      return std::nullopt;
    }
    return release_model{model, m.phase != model_phase::failed && over(m.phase), m.phase == model_phase::paused};
  }

  // -- facts -------------------------------------------------------------------------------------------------------
  /// How often it was given memory during the run.
  std::uint32_t admissions(model_id model) const { return at(model).admissions; }
  /// With a task: training or pausing.
  std::size_t running() const {
    return count([](const record& m) { return m.phase == model_phase::training || m.phase == model_phase::pausing; });
  }
  std::size_t paused() const {
    return count([](const record& m) { return m.phase == model_phase::paused; });
  }
  /// Nothing is trained: there are only trials that wait for a decision, besides those that are paused or have ended.
  bool rest() const {
    return std::ranges::none_of(all_, [](const record& m) { return m.due == due_command::resume; }) &&
           running() == count(is_held);
  }
  /// Only a command can continue the run: some are paused by one, and those that are trained are trials that wait for a
  /// decision, with these.
  bool wait_for_command() const {
    return rest() && paused() > count([](const record& m) {
             return m.phase == model_phase::paused && m.trial == trial_wait::paused;
           });
  }
  /// Some model has memory that it may give back.
  bool holds_memory() const { return std::ranges::any_of(all_, &record::has_memory); }
  /// Some model is about to give its memory back.
  bool memory_is_coming_back() const {
    return std::ranges::any_of(all_, [](const record& m) { return m.has_memory && m.phase != model_phase::training; });
  }
  std::vector<model_id> trials(trial_wait how) const {
    std::vector<model_id> all;
    for (const auto& m : all_) {
      if (m.trial == how) {
        all.push_back(id_of(m));
      }
    }
    return all;
  }
  std::set<model_id> without_memory() const {
    std::set<model_id> all;
    for (const auto& m : all_) {
      if (!m.has_memory) {
        all.insert(id_of(m));
      }
    }
    return all;
  }
  /// How often memory was given back.
  std::uint64_t releases() const noexcept { return releases_; }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  struct record {
    std::string name;
    std::unique_ptr<model_description> description{};  ///< apart, as it takes a kilobyte, and many models end
    model_phase phase = model_phase::waiting;
    bool has_memory = false;
    bool drained = false;
    bool releasing = false;  ///< the command was given
    std::uint32_t admissions = 0;
    std::uint32_t steps = 0;
    due_command due = due_command::none;
    trial_wait trial = trial_wait::none;
  };
  static bool over(model_phase s) noexcept { return s >= model_phase::finished; }
  static bool is_held(const record& m) noexcept {
    return m.trial == trial_wait::with_memory && m.phase == model_phase::training;
  }
  template <class Property>
  std::size_t count(Property has) const {
    return static_cast<std::size_t>(std::ranges::count_if(all_, has));
  }
  model_id id_of(const record& m) const { return model_id{static_cast<std::uint32_t>(&m - all_.data())}; }
  record& at(model_id model) { return all_.at(model.value); }
  const record& at(model_id model) const { return all_.at(model.value); }

  std::vector<record> all_;
  std::uint64_t releases_ = 0;
};

}  // namespace hydra
