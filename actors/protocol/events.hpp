#pragma once
// Events that a user's callbacks can subscribe to, and the requests that a callback can make.

#include "actors/protocol/model_description.hpp"
#include "partition/checkpoint/model_history.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace hydra {

// In all of them `done` counts the steps of the model that are complete: 1 after the first one. The model of the first
// two waits for their callbacks before its next step; nothing waits for those of the others, except the end of the run.

/// A model has completed an optimizer step: its loss is known, its last gradient has been written back.
struct step_completed {
  model_id model;
  std::string name;
  std::uint32_t done = 0;      ///< steps, with this one
  std::uint32_t of = 0;        ///< steps of the model in all
  float loss = 0;
  float grad_norm = 0;         ///< 0 without clipping
};

/// A model has been evaluated on its validation data.
struct evaluation_completed {
  model_id model;
  std::string name;
  std::uint32_t done = 0;      ///< steps before it
  double loss = 0;             ///< mean over the targets
  std::optional<double> accuracy;
  std::vector<evaluation_record> history{};  ///< all evaluations of the model so far, this one last
};

/// The first event of a run: from now on it answers session::status() and takes commands.
struct run_begun {
  std::vector<std::string> models{};   ///< of the workload; position = model id
  std::vector<std::string> devices{};  ///< position = device id
};

/// A model has its memory and is trained from now on: at the start of the run, when memory was given back, when it was
/// added, or when it was resumed.
struct model_joined {
  model_id model;
  std::string name;
  std::uint32_t done = 0;      ///< steps, of earlier runs or before it was paused
  std::uint32_t of = 0;        ///< steps of the model in all
};

/// A model has finished or was stopped: it is saved, if the run saves.
struct model_ended {
  model_id model;
  std::string name;
  std::uint32_t done = 0;
  bool stopped = false;        ///< before its last step
  fault unsaved{};             ///< why its last checkpoint is missing
};

/// A model has ended without a result: it has failed, or the run was halted (`why` says `interrupted`: it can be
/// resumed).
struct model_failed {
  model_id model;
  std::string name;
  std::uint32_t done = 0;
  fault why{};
};

/// A model that was to be added is not.
struct model_refused {
  std::string name;
  fault why;
  bool answered = false;  ///< who has added it learns of this by an answer
};

/// A model is saved where it is, and gives its memory back: by command, or, in a search, to another one.
struct model_paused {
  model_id model;
  std::string name;
  std::uint32_t done = 0;
};

/// A checkpoint is complete and durable.
struct checkpoint_saved {
  model_id model;
  std::string name;
  std::uint32_t done = 0;
  bool best = false;           ///< it is that of the best evaluation, not one to resume from
};

/// A device is not used any more; its units move to others. As a message it fences the device: what comes from it later
/// is ignored.
struct device_lost {
  device_id device;
  fault why;
  std::string name{};
};

/// A policy has failed, or has chosen nothing, and does not decide any more.
struct policy_replaced {
  std::string policy;
  std::string why;             ///< a sentence, as among the report's notes
};

/// Events for which no model waits.
using run_event = std::variant<run_begun, model_joined, model_ended, model_failed, model_refused, model_paused,
                               checkpoint_saved, device_lost, policy_replaced>;

/// Requests of a callback; those of one that throws are dropped. In a callback for a step or an evaluation they take
/// effect at that model's next step boundary, which waits for the callback: what a callback asks of the model it is
/// called for does not depend on timing.
class control {
 public:
  /// The model ends after the step that has just completed, or has just been evaluated; its status is `stopped`. In a
  /// callback for another event as by session::stop(). For an id that no model of the run has, nothing is stopped, and
  /// the log and the report's notes say so.
  void stop(model_id model) { stopped_.push_back(model); }
  const std::vector<model_id>& stopped() const noexcept { return stopped_; }

  /// One more model. It is prepared in parallel with the run, joins it, and has the same results as alone; the run does
  /// not end before. If it is refused (its name is taken, it does not fit, the run is being halted), the log and the
  /// report's notes say so, and the run continues without it.
  void add(model_description model) { added_.push_back(std::move(model)); }
  const std::vector<model_description>& added() const noexcept { return added_; }

 private:
  std::vector<model_id> stopped_;
  std::vector<model_description> added_;
};

template <class Event>
using callback_for = std::function<void(const Event&, control&)>;
using step_callback = callback_for<step_completed>;
using evaluation_callback = callback_for<evaluation_completed>;

/// The events that some callback subscribes to.
struct observations {
  bool steps = false;
  bool evaluations = false;
  bool others = false;   ///< some run_event

  bool any() const noexcept { return steps || evaluations || others; }
};

/// Callbacks by their events, of each in the order in which they were added.
template <class... Events>
class callback_lists {
 public:
  template <class Event>
  static constexpr bool knows = (std::is_same_v<Event, Events> || ...);

  template <class Event>
  void add(callback_for<Event> call) {
    of<Event>().push_back(std::move(call));
  }
  template <class Event>
  std::vector<callback_for<Event>>& of() noexcept {
    return std::get<std::vector<callback_for<Event>>>(lists_);
  }
  template <class Event>
  bool has() const noexcept {
    return !std::get<std::vector<callback_for<Event>>>(lists_).empty();
  }
  observations observed() const noexcept {
    return {has<step_completed>(), has<evaluation_completed>(), ((awaited<Events> ? false : has<Events>()) || ...)};
  }

 private:
  template <class Event>
  static constexpr bool awaited = std::is_same_v<Event, step_completed> || std::is_same_v<Event, evaluation_completed>;

  std::tuple<std::vector<callback_for<Events>>...> lists_;
};

template <class Others>
struct lists_with;
template <class... Others>
struct lists_with<std::variant<Others...>> {
  using type = callback_lists<step_completed, evaluation_completed, Others...>;
};
/// Of a run.
using run_callbacks = lists_with<run_event>::type;

}  // namespace hydra
