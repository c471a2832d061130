#include "actors/policy/fluid.hpp"

#include "actors/policy/step_boundary.hpp"

#include <algorithm>
#include <functional>

namespace hydra {

namespace {

const device_state* device_of(device_id id, const policy_view& view) {
  const auto found = std::ranges::find(view.devices, id, &device_state::device);
  return found == view.devices.end() ? nullptr : &*found;
}

}  // namespace

double work_left(const model_state& m, const policy_view& view) {
  auto left = static_cast<double>((m.remaining + m.staged).count());
  if (m.running) {
    if (const auto* d = device_of(*m.running, view)) {
      left += static_cast<double>(view.until_free(*d).count()) * d->speed;
    }
  }
  return left;
}

void fluid::look(const policy_view& view) {
  work_.clear();
  speeds_.clear();
  double all_work = 0;
  double all_speed = 0;
  for (const auto& m : view.models) {
    work_.push_back(work_left(m, view));
    all_work += work_.back();
  }
  for (const auto& d : view.devices) {
    speeds_.push_back(d.speed);
    all_speed += d.speed;
  }
  std::ranges::sort(speeds_, std::greater{});
  fastest_ = speeds_.front();
  end_ = all_work / all_speed;
  const auto most = std::min(speeds_.size() - 1, work_.size());
  std::ranges::partial_sort(work_, work_.begin() + static_cast<std::ptrdiff_t>(most), std::greater{});
  double work = 0;
  double speed = 0;
  for (std::size_t k = 0; k < most; ++k) {
    work += work_[k];
    speed += speeds_[k];
    end_ = std::max(end_, work / speed);
  }
}

double fluid::margin(const critical_margin& m, const policy_view& view) const {
  return margin(m, longest_unit(view));
}

}  // namespace hydra
