#pragma once
// Decides when a model is saved, and when it may end. Pure.

#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/step_position.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hydra {

/// When model number `place` (from 0) of `models` is due for the first time: within a period they are saved one after
/// the other, not all at once.
duration first_due(duration every, std::uint32_t place, std::size_t models);

/// Identifies a state of a model: two equal ones have the same checkpoint.
struct save_point {
  step_position next;
  std::uint64_t updates = 0;       ///< of all shards, in sum
  std::size_t evaluations = 0;
  bool stopped = false;
  friend bool operator==(const save_point&, const save_point&) = default;
};

/// A model that leaves ends when none of its units is on a device and its last state has been saved, or could not be.
/// One checkpoint at a time. The best state is saved separately, as soon as it is known to be the best and before the
/// next step.
class save_tracker {
 public:
  enum class action : std::uint8_t { none, capture, end };

  /// `saves`: false if there is nowhere to save to.
  explicit save_tracker(bool saves) : saves_(saves) {}

  // -- events ------------------------------------------------------------------------------------------------------
  /// This state is on disk already.
  void begins_at(const save_point& here) { saved_ = here; }
  /// The time for a checkpoint has come.
  void is_due() noexcept { due_ = true; }
  /// A step has ended and no shard is ahead of another; `by_steps`: a checkpoint is due at this step. True: capture
  /// now. If another one is under way, it is taken after the next step.
  bool between_steps(bool by_steps);
  /// The current state is the best so far.
  void is_best() noexcept { best_wanted_ = saves_ && !given_up_; }
  /// The memory has been captured at this state.
  void captured(const save_point& here);
  void saved(const fault& why);
  /// The model ends for this reason (empty: it has finished). Later reasons are ignored.
  void leave(const fault& why);
  /// The model does not end: it continues. What could not be saved may be later, also if it does not go on meanwhile.
  void stay() noexcept {
    reason_.reset();
    failed_at_.reset();
  }
  /// Do not wait for what is under way.
  void give_up(const fault& why);

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// True once if the best state must be captured now.
  bool best_now() noexcept;
  /// What a model that leaves does next. Returns `capture` once.
  action next(const save_point& here, bool drained);

  // -- facts -------------------------------------------------------------------------------------------------------
  bool leaving() const noexcept { return reason_.has_value(); }
  bool saving() const noexcept { return saving_; }
  /// The checkpoint that is under way is the best state.
  bool saving_best() const noexcept { return saving_best_; }
  /// The best state has not been captured yet: the model must not change.
  bool holds_best() const noexcept { return best_wanted_ || (saving_best_ && !best_captured_); }
  /// Why the model ends.
  const fault& reason() const { return *reason_; }
  /// Why its final state is not on disk; empty if it is, or need not be.
  fault unsaved() const { return leaving() ? failed_ : fault{}; }

 private:
  bool saves_;
  bool due_ = false;
  bool saving_ = false;
  bool best_wanted_ = false;
  bool saving_best_ = false;
  bool best_captured_ = false;
  bool given_up_ = false;
  std::optional<save_point> saving_at_, saved_, failed_at_;
  fault failed_;
  std::optional<fault> reason_;
};

}  // namespace hydra
