#pragma once
// Which units fail together: a failure reaches those that depend on the unit, and those that are enqueued behind it.

#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/ticket.hpp"

namespace hydra {

class visit_failing {
 public:
  /// `state` outlives this.
  explicit visit_failing(pipeline_state& state) : state_(state) {}

  /// Stores the cause; the unit ends when none of its operations is outstanding. Later units of the model fail with it:
  /// what they read here will not be written back, so they must not be committed.
  void fail(visit_record& v, const fault& why);
  /// An operation of `v` has failed.
  void fail_operation(visit_record& v, const completion& c);
  /// Fails a unit that has arrived while one before it is failing: the model has not been notified yet. (If that one
  /// was withdrawn the model has been notified, and this is the next attempt.) False: there is no such unit.
  bool fail_with_predecessor(visit_record& v);

 private:
  void fail_successors(const visit_record& v);
  void fail_behind(ticket failed);

  pipeline_state& state_;
};

}  // namespace hydra
