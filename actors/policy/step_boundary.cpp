#include "actors/policy/step_boundary.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

bool equal_speeds(const policy_view& view) {
  return std::ranges::all_of(view.devices,
                             [&](const device_state& d) { return d.speed == view.devices.front().speed; });
}

const model_state* own_model(const device_state& device, const policy_view& view) {
  if (!device.last) {
    return nullptr;
  }
  const auto found = std::ranges::lower_bound(view.models, *device.last, {}, &model_state::model);
  return found != view.models.end() && found->model == *device.last ? &*found : nullptr;
}

const model_state* model_at_step_boundary(const device_state& device, const policy_view& view) {
  const auto* m = own_model(device, view);
  if (m == nullptr) {
    return nullptr;
  }
  const bool stays_here = m->ended == device.device && (!m->running || m->running == device.device);
  const bool all_lanes = std::ranges::none_of(view.models, [&](const model_state& lane) {
    return lane.model == m->model && !lane.at_step_boundary;
  });
  const bool at_boundary = all_lanes && m->staged_units == 0 && m->remaining > duration{};
  return stays_here && at_boundary ? m : nullptr;
}

namespace {

duration until_all_computed(const device_state& d, const policy_view& view) { return view.until_free(d) + d.staged; }

}  // namespace

bool waits_at_step_boundary(const model_state& m) {
  return m.at_step_boundary && m.staged_units == 0 && m.remaining > duration{};
}

bool is_free_first(const device_state& device, const policy_view& view) {
  const auto busy = until_all_computed(device, view);
  return std::ranges::none_of(view.devices,
                              [&](const device_state& d) { return until_all_computed(d, view) < busy; });
}

device_id device_after_boundary(const model_state& m, const policy_view& view) {
  if (m.running) {
    return *m.running;
  }
  const auto busy = [&](const device_state& d) { return std::pair{until_all_computed(d, view), m.ended != d.device}; };
  return std::ranges::min_element(view.devices, {}, busy)->device;
}

bool patience::lasts(const device_state& device, const model_state& m, time_point now, double longest_ns) {
  auto& t = since_[{device.device, m.model}];
  if (t.remaining != m.remaining || !device.idle) {
    t = {m.remaining, now};
  }
  return static_cast<double>((now - t.since).count()) <= longest_ns;
}

duration avoidable_transfer(const candidate& c) {
  const bool must_load = c.next.way == direction::backward && c.elsewhere && !c.hit;
  return c.boundary_time + (must_load ? c.transfer_time - c.boundary_time : duration{});
}

duration longest_unit(const policy_view& view) {
  duration longest{};
  for (const auto& model : view.models) {
    longest = std::max(longest, model.next_cost);
  }
  return longest;
}

}  // namespace hydra
