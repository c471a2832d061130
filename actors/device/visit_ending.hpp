#pragma once
// The end of a unit: what it gives back when it has computed, and its report, demoted or failed.

#include "actors/device/device_slots.hpp"
#include "actors/device/pipeline_port.hpp"
#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"

namespace hydra {

class visit_ending {
 public:
  /// All outlive this.
  visit_ending(pipeline_state& state, device_slots& slots, pipeline_port& port)
      : state_(state), slots_(slots), port_(port) {}

  /// All computations of the unit have completed.
  void end_computing(visit_record& v);
  /// Units end in the order of the chain, in whatever order the queues complete: the host must never have the outputs
  /// of a unit without those of the unit before, and a failure that is reported before its cause would be retried in
  /// vain.
  bool may_end(const visit_record& v) const;
  void end(visit_record& v);

 private:
  void end_failed(visit_record& v);
  void end_demoted(visit_record& v);
  void drop_what_was_read(const visit_record& v);
  void drop_saved(const visit_record& v);
  void drop_outputs(const visit_record& v);
  void release(visit_record& v);

  pipeline_state& state_;
  device_slots& slots_;
  pipeline_port& port_;
};

}  // namespace hydra
