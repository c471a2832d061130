#include "actors/report/largest_loss.hpp"

namespace hydra {

namespace {

constexpr double least_share = 0.005;

const char* words_of(const breakdown_part& part) {
  if (part.value == &time_breakdown::exposed_h2d) {
    return "waits for copies to the devices";
  }
  if (part.value == &time_breakdown::exposed_d2h) {
    return "waits for copies to the host";
  }
  if (part.value == &time_breakdown::optimizer) {
    return "waits for updates, batches or callbacks";
  }
  if (part.value == &time_breakdown::predecessor) {
    return "waits for another device's part of the model";
  }
  if (part.value == &time_breakdown::bubble) {
    return "pipelines fill and drain";
  }
  if (part.value == &time_breakdown::no_unit) {
    return "devices had nothing to train";
  }
  return "messages, decisions, other work on the cores";
}

double share_of(const report& r, duration time_breakdown::*part) {
  double all = 0, sum = 0;
  for (const auto& d : r.devices) {
    all += d.speed * seconds(r.makespan);
    sum += d.speed * seconds(d.time.*part);
  }
  return all > 0 ? sum / all : 0;
}

}  // namespace

std::optional<named_loss> largest_loss(const report& r) {
  named_loss most;
  const auto consider = [&most](double share, const char* text) {
    if (share > most.share) {
      most = {share, text};
    }
  };
  for (const auto& part : breakdown_parts) {
    if (part.value != &time_breakdown::compute) {
      consider(share_of(r, part.value), words_of(part));
    }
  }
  if (r.makespan > duration::zero() && r.limits.work > duration::zero()) {
    consider(share_of(r, &time_breakdown::compute) - seconds(r.limits.work) / seconds(r.makespan),
             "units took longer than at their fastest");
  }
  return most.share < least_share ? std::nullopt : std::optional(most);
}

}  // namespace hydra
