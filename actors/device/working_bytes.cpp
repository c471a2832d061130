#include "actors/device/working_bytes.hpp"

#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

byte_count total(const std::vector<reservation>& parts) {
  byte_count sum;
  for (const auto& part : parts) {
    sum += part.bytes();
  }
  return sum;
}

/// Moves exactly `n` bytes of claims. There must be as many.
void move_bytes(std::vector<reservation>& from, byte_count n, std::vector<reservation>& to) {
  while (n > byte_count{}) {
    auto& part = from.back();
    const auto now = std::min(n, part.bytes());
    to.push_back(part.split(now));
    n -= now;
    if (part.bytes() == byte_count{}) {
      from.pop_back();
    }
  }
}

/// The last unit that still has bytes to pass on; all its computations were submitted before those of `v`.
visit_record* predecessor_with_bytes(const visit_record& v, const visit_list& visits) {
  visit_record* holder = nullptr;
  for (const auto& other : visits.all()) {
    const bool has_bytes = other->working && !other->working->empty();
    if (other.get() != &v && other->alive() && other->all_submitted() && has_bytes) {
      holder = other.get();
    }
  }
  return holder;
}

/// Takes `need` bytes, those of `before` included as far as needed.
bool take_over(visit_record& v, visit_record& before, byte_count need, working_bytes& got, pipeline_state& state) {
  auto& passed_on = *before.working;
  const auto when_computed = std::min(total(passed_on.until_computed), need);
  const auto when_written_back = std::min(total(passed_on.until_written_back), need - when_computed);
  auto more = state.make_room(v, need - when_computed);
  if (!more) {
    more = state.make_room(v, need - when_computed - when_written_back);
    if (!more) {
      return false;
    }
    move_bytes(passed_on.until_written_back, when_written_back, got.until_computed);
    v.waits.for_copies_out = true;
    got.after = before.write_back;
  }
  move_bytes(passed_on.until_computed, when_computed, got.until_computed);
  got.after.push_back(before.last_compute());
  v.start_after.insert(v.start_after.end(), got.after.begin(), got.after.end());
  got.until_computed.push_back(std::move(*more));
  return true;
}

bool collect(visit_record& v, byte_count need, working_bytes& got, pipeline_state& state) {
  if (auto fresh = state.make_room(v, need)) {
    got.until_computed.push_back(std::move(*fresh));
    return true;
  }
  auto* before = predecessor_with_bytes(v, state.visits);
  return before && take_over(v, *before, need, got, state);
}

}  // namespace

bool claim_working_bytes(visit_record& v, pipeline_state& state) {
  const auto& footprint = v.model->plan.footprint_of(v.what);
  working_bytes got;
  if (!collect(v, footprint.working, got, state)) {
    return false;
  }
  move_bytes(got.until_computed, std::min(footprint.write_back, footprint.working), got.until_written_back);
  v.working = std::move(got);
  return true;
}

}  // namespace hydra
