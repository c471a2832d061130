#pragma once
// The models of a run as the SUPERVISOR sees them: which wait for memory, which have it, and when it may be given back.

#include "actors/protocol/release.hpp"
#include "actors/protocol/run_status.hpp"
#include "runtime/base/ids.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

class model_phases {
 public:
  /// Their ids are their places.
  model_id add(std::string name, model_phase phase) {
    const model_id id{static_cast<std::uint32_t>(all_.size())};
    all_.push_back({.name = std::move(name),
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

  // -- events ------------------------------------------------------------------------------------------------------
  /// It has its memory, perhaps again.
  void admitted(model_id model) {
    auto& m = at(model);
    m = {.name = std::move(m.name), .phase = model_phase::training, .has_memory = true, .admissions = m.admissions + 1};
  }
  void pauses(model_id model) { at(model).phase = model_phase::pausing; }
  /// It could not be saved and has joined the schedule again.
  void continues(model_id model) {
    at(model).phase = model_phase::training;
    at(model).drained = false;
  }
  /// Where it ended is not kept: it can be resumed from its checkpoint.
  void reopens(model_id model) { at(model).phase = model_phase::paused; }
  /// It waits for memory again.
  void waits(model_id model) { at(model).phase = model_phase::waiting; }
  /// It has no task any more: paused, finished, stopped or failed. False if it had ended before.
  bool end(model_id model, model_phase how) {
    if (over(of(model))) {
      return false;
    }
    at(model).phase = how;
    return true;
  }
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
  /// Some model has memory that it may give back.
  bool holds_memory() const { return std::ranges::any_of(all_, &record::has_memory); }
  /// Some model is about to give its memory back.
  bool memory_is_coming_back() const {
    return std::ranges::any_of(all_, [](const record& m) { return m.has_memory && m.phase != model_phase::training; });
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
    model_phase phase = model_phase::waiting;
    bool has_memory = false;
    bool drained = false;
    bool releasing = false;  ///< the command was given
    std::uint32_t admissions = 0;
  };
  static bool over(model_phase s) noexcept { return s >= model_phase::finished; }
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
