#include "actors/report/largest_gap.hpp"

namespace hydra {

namespace {

constexpr double least_share = 0.005;

double share_of(const report& r, duration time_breakdown::*part) {
  double all = 0, sum = 0;
  for (const auto& d : r.devices) {
    all += d.speed * seconds(r.makespan);
    sum += d.speed * seconds(d.time.*part);
  }
  return all > 0 ? sum / all : 0;
}

}  // namespace

std::optional<named_gap> largest_gap(const report& r) {
  constexpr double rounding = 0.001;
  const auto beyond = 1 - r.efficiency();
  named_gap most;
  const auto consider = [&](double share, const char* text) {
    const bool in_bound = share > beyond + rounding;  // such as devices that the longest model leaves idle
    if (share > most.share && !in_bound) {
      most = {share, text};
    }
  };
  for (const auto& part : breakdown_parts) {
    if (part.cause) {
      consider(share_of(r, part.value), part.cause);
    }
  }
  if (r.makespan > duration::zero() && r.limits.work > duration::zero()) {
    consider(share_of(r, &time_breakdown::compute) - seconds(r.limits.work) / seconds(r.makespan),
             "units took longer than at their fastest");
  }
  return most.share < least_share ? std::nullopt : std::optional(most);
}

}  // namespace hydra
