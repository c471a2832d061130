#include "actors/device/visit_failing.hpp"

namespace hydra {

void visit_failing::fail(visit_record& v, const fault& why) {
  const bool first = !v.failed();
  auto& cause = v.failure.cause;
  if (first || (cause.code == fault_code::dependency_failed && why.code != fault_code::dependency_failed)) {
    cause = why;
  }
  if (why.code == fault_code::out_of_memory) {
    state_.cache.evict_all();
  }
  if (first) {
    fail_successors(v);
  }
}

void visit_failing::fail_operation(visit_record& v, const completion& c) {
  state_.operations.set_failed(c.operation);
  fail(v, c.error);
  fail_behind(c.operation);
}

void visit_failing::fail_successors(const visit_record& v) {
  bool later = false;
  for (const auto& other : state_.visits.all()) {
    if (later && other->alive() && depends_on(*other, v)) {
      other->failure.cause = {fault_code::dependency_failed, to_string(v.what) + " failed before it"};
    }
    later = later || other.get() == &v;
  }
}

/// Operations enqueued after a failed one fail, too. Reported at once, also of units that have yet to enqueue theirs,
/// so that nothing is enqueued behind these: otherwise units of several models would pass the failure on for ever.
void visit_failing::fail_behind(ticket failed) {
  for (const auto& v : state_.visits.all()) {
    if (v->alive() && v->waits_for(failed)) {
      fail(*v, {fault_code::dependency_failed, to_string(v->what) + " was enqueued behind what failed"});
    }
  }
}

bool visit_failing::fail_with_predecessor(visit_record& v) {
  for (const auto& other : state_.visits.all()) {
    if (other.get() == &v) {
      return false;
    }
    const bool failing = other->failed() && !other->failure.withdrawn && !other->ended();
    if (failing && depends_on(v, *other)) {
      fail(v, {fault_code::dependency_failed, to_string(other->what) + " fails before it"});
      return true;
    }
  }
  return false;
}

}  // namespace hydra
