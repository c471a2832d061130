// How the policy is asked: which devices in which order, with which candidates.

#include "actors/policy/schedule_tracker.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hydra {

std::vector<placement> schedule_tracker::decide(time_point now) {
  std::vector<placement> placed;
  decide(now, [&](const placement& p) { placed.push_back(p); });
  return placed;
}

void schedule_tracker::decide(time_point now, const placement_sink& placed) {
  for (bool any = true; any && announced_ > 0;) {
    any = false;
    order_devices();
    for (std::size_t i = 0; i < order_.size() && announced_ > 0; ++i) {
      if (const auto p = ask(order_[i], now)) {
        any = true;
        placed(*p);
      }
    }
  }
}

void schedule_tracker::order_devices() {
  order_.clear();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (may_ask(i)) {
      order_.push_back(device_states_[i].device);
    }
  }
  if (order_.size() > 1) {
    std::ranges::stable_sort(order_, {}, [this](device_id d) {
      const auto& state = device_states_[*place_of(d)];
      return std::pair{!state.idle, -state.speed};
    });
  }
}

std::optional<placement> schedule_tracker::ask(device_id device, time_point now) {
  const auto at = place_of(device);
  if (!at || !may_ask(*at)) {
    return std::nullopt;
  }
  collect_candidates(*at);
  if (candidates_.empty()) {
    return std::nullopt;
  }
  ++decisions_;
  const auto choice = policy_->choose(device_states_[*at], candidates_, view(now));
  if (!choice) {
    return std::nullopt;
  }
  if (*choice >= candidates_.size()) {
    throw fault_error{fault_code::internal, "policy " + policy_->name() + " chose candidate " +
                                                std::to_string(*choice) + " of " + std::to_string(candidates_.size())};
  }
  const auto& lane = shown_.all()[candidates_[*choice].model_at];
  return place(lane.model, lane.lane, *at, now);
}

bool schedule_tracker::may_ask(std::size_t device) const {
  return devices_[device].credits > 0 && devices_[device].taken < policy_->depth();
}

void schedule_tracker::collect_candidates(std::size_t device) {
  candidates_.clear();
  const auto id = device_states_[device].device;
  const auto& models = shown_.all();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!models[i].candidate) {
      continue;
    }
    const auto& units = models_[models[i].model.value]->units;
    const auto& lane = units.lanes()[models[i].lane];
    if (may_stage(lane, id)) {
      candidates_.push_back(candidate_of(lane, i, device));
      candidates_.back().landing = units.is_landing(models[i].lane);
    }
  }
}

bool schedule_tracker::may_stage(const lane_row& lane, device_id device) const {
  if (lane.bound_to() && lane.bound_to() != device) {
    return false;
  }
  const auto avoided = avoided_by(*lane.announced);
  return std::ranges::find(avoided, device) == avoided.end();
}

std::vector<device_id> schedule_tracker::avoided_by(const unit_ready& u) const {
  if (u.avoid.empty() || devices_.size() < 2) {
    return {};
  }
  const auto is_other = [&](const device_state& d) { return std::ranges::find(u.avoid, d.device) == u.avoid.end(); };
  return std::ranges::any_of(device_states_, is_other) ? u.avoid : std::vector{u.avoid.back()};
}

candidate schedule_tracker::candidate_of(const lane_row& lane, std::size_t at, std::size_t device) const {
  const auto& u = *lane.announced;
  const auto& reads = lane.reads;
  const auto id = device_states_[device].device;
  const auto where = residency_.of(u.what, reads.base, id);
  const auto boundary = lane.came_from == id ? byte_count{} : reads.boundary;
  const auto parameters = where.here ? byte_count{} : reads.parameters;
  const auto boundary_time = copy_time(devices_[device], boundary);
  return {.next = u.what,
          .remaining = u.remaining,
          .cost = u.cost,
          .parameters = reads.parameters,
          .transfer = parameters + boundary,
          .transfer_time = copy_time(devices_[device], parameters) + boundary_time,
          .boundary_time = boundary_time,
          .hit = where.here,
          .elsewhere = where.elsewhere,
          .announced = lane.available,
          .chained = lane.bound_to().has_value(),
          .avoided = avoided_by(u),
          .model_at = at,
          .base = reads.base};
}

duration schedule_tracker::copy_time(const device_tracker& d, byte_count bytes) const {
  return bytes == byte_count{} ? duration{} : d.latency + d.link.time_for(bytes);
}

}  // namespace hydra
