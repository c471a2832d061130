#pragma once
// When a model is saved, and when it may end. Pure.

#include "partition/cursor.hpp"
#include "runtime/fault.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hydra {

/// What tells one state of a model from another, as far as checkpoints go.
struct save_point {
  unit_position unit;
  std::uint64_t updates = 0;       ///< of all shards, in sum
  std::size_t evaluations = 0;
  bool stopped = false;
  friend bool operator==(const save_point&, const save_point&) = default;
};

/// A model that leaves ends when nothing of it is on a device and its last state has been saved, or could not be. One
/// checkpoint at a time.
class save_book {
 public:
  enum class action : std::uint8_t { none, capture, end };

  /// `saves`: false if there is nowhere to save to.
  explicit save_book(bool saves) : saves_(saves) {}

  // -- events ------------------------------------------------------------------------------------------------------
  /// This state is on disk already.
  void begins_at(const save_point& here) { saved_ = here; }
  /// The time for a checkpoint has come.
  void is_due() noexcept { due_ = true; }
  /// A step has ended and no shard is ahead of another; `by_steps`: a checkpoint belongs here. True: capture now.
  bool between_steps(bool by_steps);
  /// The memory has been captured at this state.
  void captured(const save_point& here) { saving_at_ = here; }
  void saved(const fault& why);
  /// The model ends for this reason (none: it has finished). The first one holds.
  void leave(const fault& why);
  /// Whatever is under way is not awaited.
  void give_up(const fault& why);

  // -- decisions ---------------------------------------------------------------------------------------------------
  /// What a model that leaves does next. `capture` is said once.
  action next(const save_point& here, bool drained);

  // -- facts -------------------------------------------------------------------------------------------------------
  bool leaving() const noexcept { return reason_.has_value(); }
  bool saving() const noexcept { return saving_; }
  /// Why the model ends.
  const fault& reason() const { return *reason_; }
  /// Why the state with which it ends is not on disk; none if it is, or was not to be.
  fault unsaved() const { return leaving() ? failed_ : fault{}; }

 private:
  bool saves_;
  bool due_ = false;
  bool saving_ = false;
  bool given_up_ = false;
  std::optional<save_point> saving_at_, saved_, failed_at_;
  fault failed_;
  std::optional<fault> reason_;
};

}  // namespace hydra
