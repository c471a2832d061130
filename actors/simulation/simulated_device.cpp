#include "actors/simulation/simulated_device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hydra {

simulated_device::simulated_device(device_info info, clock_reader now) : info_(std::move(info)), now_(std::move(now)) {}

void simulated_device::shake(double share, std::uint64_t seed) {
  noise_ = share;
  draws_.seed(seed);
}

duration simulated_device::length_of(queue_kind queue, const operation& op) {
  if (const auto known = lengths_ ? lengths_(queue, op) : std::nullopt) {
    return *known;
  }
  if (queue == queue_kind::compute) {
    auto length = static_cast<double>(op.estimate.count());
    if (noise_ > 0) {
      length *= 1 + noise_ * (static_cast<double>(draws_() >> 11) * 0x1p-52 - 1);
    }
    return duration{std::llround(length / info_.speed)};
  }
  return info_.latency + info_.link.time_for(op.bytes);
}

simulated_device::outcome simulated_device::wait_for(std::span<const ticket> after, time_point now) {
  outcome all{now, false};
  for (const auto t : after) {
    if (const auto found = outcomes_.find(t.value); found != outcomes_.end()) {
      all.end = std::max(all.end, found->second.end);
      all.failed = all.failed || found->second.failed;
    }
  }
  return all;
}

void simulated_device::forget_before(time_point now) {
  constexpr std::size_t sweep_from = 4096;
  if (outcomes_.size() >= sweep_from) {
    std::erase_if(outcomes_, [&](const auto& entry) { return entry.second.end < now && !entry.second.failed; });
  }
}

ticket simulated_device::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const auto now = now_();
  forget_before(now);
  const ticket t{++last_};
  auto& free = queue_free_[static_cast<std::size_t>(queue)];
  const auto ready = wait_for(after, now);
  completion c{.operation = t, .begin = std::max(free, ready.end), .end = {}, .error = {}};
  if (stopped_) {
    c.error = {fault_code::cancelled, "the device was stopped"};
  } else if (ready.failed) {
    c.error = {fault_code::dependency_failed, "an operation it waits for failed"};
  } else if (faults_) {
    c.error = faults_(queue, op);
  }
  c.end = c.begin + (c.error ? duration{} : length_of(queue, op));
  free = c.end;
  outcomes_[t.value] = {c.end, static_cast<bool>(c.error)};
  held_.emplace(c.end, std::move(op.work));
  deliver_(queue, c.end - now, c);
  return t;
}

}  // namespace hydra
