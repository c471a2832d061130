#pragma once
// The units on a device in the order of their placement, and what can be asked of all of them.

#include "actors/device/visit_record.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/base/unit.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

namespace hydra {

/// Of two units in the order in which a device got them: the later one cannot complete unless the earlier one does, or
/// is another attempt at its lane.
bool depends_on(const visit_record& later, const visit_record& earlier);

class visit_list {
 public:
  /// The record of a unit, new or already there.
  visit_record& record(const unit& u);
  /// Null if it is not there.
  visit_record* find(const unit& u) const;

  /// In the order of placement. The list may grow while it is read by index; a reference to a record stays valid.
  const std::deque<std::unique_ptr<visit_record>>& all() const noexcept { return visits_; }
  /// True if `holds` is true of every live unit that was placed before `v`.
  template <class Predicate>
  bool all_before(const visit_record& v, Predicate holds) const;
  /// The first unit that has not ended of those that `v` depends on, which is one of them; null if there is none.
  const visit_record* first_before(const visit_record& v) const;
  /// The unit that has started and still computes; none if the device is idle.
  std::optional<unit> running() const;
  /// Units that have not ended.
  std::size_t open() const noexcept;
  /// True if a unit has failed and not ended.
  bool any_failing() const;

  /// What a unit here computes for `reader`, or has computed and still holds, and the ticket of the computation.
  std::optional<staged_block> live_output(const visit_record& reader, const block_id& id) const;
  /// True if a live unit here produces the block, whether or not it is still on the device, or will do so.
  bool produces(const visit_record& reader, const block_id& id) const;

  /// Removes the units that have ended and whose messages have both arrived.
  void erase_ended();

 private:
  std::deque<std::unique_ptr<visit_record>> visits_;
};

template <class Predicate>
bool visit_list::all_before(const visit_record& v, Predicate holds) const {
  for (const auto& other : visits_) {
    if (other.get() == &v) {
      return true;
    }
    if (other->alive() && !holds(*other)) {
      return false;
    }
  }
  return true;
}

}  // namespace hydra
