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

void breakdown_tracker::add(const unit& u, device_id device, const visit_times& t, std::uint32_t waves) {
  auto& page = devices_.at(device.value);
  if (t.idle_since) {
    wait_before(page, u, {*t.idle_since, std::min(t.available, t.begin), waves});
  } else {
    page.first_available = t.available;
  }
  page.first_begin = std::min(page.first_begin.value_or(t.begin), t.begin);
  page.computed[u.model] += t.compute;
  page.sums.compute += t.compute;
  page.sums.exposed_h2d += t.exposed_h2d;
  page.sums.exposed_d2h += t.exposed_d2h;
  page.last_end = std::max(page.last_end.value_or(t.end), t.end);
  models_[u.model].compute += t.compute;
  last_[{u.model, u.replica, u.wave}] = {u.step, t.end};
}

/// The first unit of a step waits for the units of the step before, then for a version of its shard; any other one for
/// units of its step.
void breakdown_tracker::wait_before(device_page& page, const unit& u, const idle_time& idle) {
  const auto before = last_.find({u.model, u.replica, u.wave});
  if (before == last_.end()) {
    page.sums.no_unit += between(idle.from, idle.available);
    return;
  }
  if (before->second.step >= u.step) {
    wait_for_units(page, u, idle.waves, between(idle.from, idle.available));
    return;
  }
  const auto computed = std::clamp(computed_before(u), idle.from, std::max(idle.from, idle.available));
  wait_for_units(page, u, idle.waves, between(idle.from, computed));
  page.sums.optimizer += between(computed, idle.available);
}

/// The end of the last unit of earlier steps of the model, in any lane.
time_point breakdown_tracker::computed_before(const unit& u) const {
  auto computed = last_.at({u.model, u.replica, u.wave}).end;
  for (auto lane = last_.lower_bound({u.model, {}, {}}); lane != last_.end() && std::get<0>(lane->first) == u.model;
       ++lane) {
    computed = lane->second.step < u.step ? std::max(computed, lane->second.end) : computed;
  }
  return computed;
}

void breakdown_tracker::wait_for_units(device_page& page, const unit& u, std::uint32_t waves, duration time) {
  (waves > 1 ? page.sums.bubble : page.sums.predecessor) += time;
  models_[u.model].bubble += waves > 1 ? time : duration{};
}

pipeline_time breakdown_tracker::of(model_id model) const {
  const auto found = models_.find(model);
  return found == models_.end() ? pipeline_time{} : found->second;
}

std::vector<duration> breakdown_tracker::computed(device_id device, std::size_t models) const {
  std::vector<duration> all(models);
  for (const auto& [model, time] : devices_.at(device.value).computed) {
    all.at(model.value) = time;
  }
  return all;
}

duration breakdown_tracker::used(device_id device) const {
  const auto& page = devices_.at(device.value);
  return page.last_end ? *page.last_end - *page.first_begin : duration{};
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
