#include "actors/policy/advised_policy.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

void advised_policy::advised(std::uint64_t request, device_id device, const std::optional<unit>& choice) {
  const auto found = open_.find(device);
  if (found == open_.end() || found->second.request != request) {
    return;
  }
  found->second.answered = true;
  found->second.choice = choice;
}

std::optional<std::size_t> advised_policy::choose(const device_state& device, std::span<const candidate> candidates,
                                                  const policy_view& view) {
  if (const auto found = open_.find(device.device); found != open_.end()) {
    const auto& e = found->second;
    if (!e.answered || (!e.choice && e.event == events_)) {
      return std::nullopt;
    }
    const auto at = std::ranges::find(candidates, e.choice, &candidate::next);
    if (at != candidates.end()) {
      open_.erase(found);
      nonsense_in_a_row_ = 0;
      happened();
      return static_cast<std::size_t>(at - candidates.begin());
    }
    drop(e);
  }
  ask(device, candidates, view);
  return std::nullopt;
}

void advised_policy::ask(const device_state& device, std::span<const candidate> candidates, const policy_view& view) {
  auto& e = open_[device.device];
  e = {.request = ++requests_, .asked = view.now, .event = events_};
  std::ranges::transform(candidates, std::back_inserter(e.offered), &candidate::next);
  ask_({.request = requests_, .shown = copy_of(device, candidates, view)});
}

void advised_policy::drop(const exchange& e) {
  if (!e.choice) {
    return;
  }
  ++dropped_;
  if (std::ranges::find(e.offered, *e.choice) != e.offered.end()) {
    return;
  }
  if (++nonsense_in_a_row_ >= most_dropped) {
    throw fault_error{fault_code::internal, "its last " + std::to_string(nonsense_in_a_row_) +
                                                " answers named units that were not candidates (" +
                                                to_string(*e.choice) + ")"};
  }
}

std::optional<time_point> advised_policy::asked(device_id device, std::uint64_t request) const {
  const auto found = open_.find(device);
  const bool open = found != open_.end() && found->second.request == request && !found->second.answered;
  return open ? std::optional(found->second.asked) : std::nullopt;
}

std::optional<time_point> advised_policy::waiting_since() const {
  std::optional<time_point> oldest;
  for (const auto& [device, e] : open_) {
    if (!e.answered && (!oldest || e.asked < *oldest)) {
      oldest = e.asked;
    }
  }
  return oldest;
}

}  // namespace hydra
