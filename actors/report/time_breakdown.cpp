#include "actors/report/time_breakdown.hpp"

#include <algorithm>

namespace hydra {

namespace {

duration between(time_point from, time_point to) { return to > from ? to - from : duration{}; }

duration sum(const time_breakdown& b) {
  duration all{};
  for (const auto& part : breakdown_parts) {
    all += b.*part.value;
  }
  return all;
}

}  // namespace

void breakdown_tracker::add(const unit& u, device_id device, const visit_times& t) {
  auto& page = devices_.at(device.value);
  if (t.idle_since) {
    wait_before(page, u, *t.idle_since, std::min(t.available, t.begin));
  } else {
    page.first_available = t.available;
  }
  page.sums.compute += t.compute;
  page.sums.exposed_h2d += t.exposed_h2d;
  page.sums.exposed_d2h += t.exposed_d2h;
  page.last_end = std::max(page.last_end.value_or(t.end), t.end);
  last_[{u.model, u.replica, u.wave}] = {u.step, t.end};
}

/// The first unit of a step waits for a version of its shard; any other one for its predecessor.
void breakdown_tracker::wait_before(device_page& page, const unit& u, time_point from, time_point available) {
  const auto before = last_.find({u.model, u.replica, u.wave});
  if (before == last_.end()) {
    page.sums.no_unit += between(from, available);
    return;
  }
  const bool at_boundary = before->second.step < u.step;
  const auto computed = std::clamp(before->second.end, from, std::max(from, available));
  page.sums.predecessor += between(from, computed);
  (at_boundary ? page.sums.optimizer : page.sums.predecessor) += between(computed, available);
}

time_breakdown breakdown_tracker::of(device_id device, time_point begin, time_point end) const {
  const auto& page = devices_.at(device.value);
  auto b = page.sums;
  if (!page.last_end) {
    b.no_unit = between(begin, end);
  } else {
    time_point all_computed = *page.last_end;
    for (const auto& [model, last] : last_) {
      all_computed = std::max(all_computed, last.end);
    }
    b.compute -= std::min(b.compute, between(end, *page.last_end));  // a failed model's units may compute after the end
    const auto done = std::min(all_computed, end);
    b.no_unit += between(begin, page.first_available.value_or(begin)) + between(*page.last_end, done);
    b.optimizer += between(done, end);
  }
  b.actors = std::max(duration{}, between(begin, end) - sum(b));
  return b;
}

}  // namespace hydra
