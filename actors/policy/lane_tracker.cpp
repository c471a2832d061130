#include "actors/policy/lane_tracker.hpp"

#include "runtime/base/step_graph.hpp"
#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

/// The position of a flight of `u`; attempts of one visit are in order.
auto place_for(std::vector<flight>& flights, const unit& u) {
  return std::ranges::upper_bound(
      flights, u,
      [](const unit& a, const unit& b) {
        return visited_before(a, b) || (same_visit(a, b) && a.attempt < b.attempt);
      },
      &flight::what);
}

}  // namespace

bool lane_tracker::announce(const ready_unit& u, time_point now) {
  if (left_ || stale(u.next)) {
    return false;
  }
  check_order(u.next);
  announced_ = u;
  newest_ = u.next;
  reached_ = {.what = u.next};
  remaining_ = u.remaining;
  next_cost_ = u.cost;
  available_ = now;
  if (u.after && !flies_on(*u.after)) {
    announced_->after.reset();
  }
  return true;
}

void lane_tracker::leave() {
  announced_.reset();
  remaining_ = next_cost_ = duration::zero();
  begins_step_ = false;
  left_ = true;
}

flight lane_tracker::place(device_id device, time_point now) {
  const auto& u = *announced_;
  const flight f{.what = u.next,
                 .device = device,
                 .cost = u.cost,
                 .wall = std::max(u.remaining - u.then_remaining, duration::zero()),
                 .bytes = u.bytes,
                 .placed = now};
  remaining_ = u.then_remaining;
  next_cost_ = u.then_cost;
  begins_step_ = u.then_begins_step;
  came_from_ = device;
  reached_->placed = true;
  announced_.reset();
  flights_.insert(place_for(flights_, f.what), f);
  return f;
}

void lane_tracker::started(const unit& u) noexcept {
  if (auto* f = find(u); f != nullptr && f->phase == flight_phase::staged) {
    f->phase = flight_phase::computing;
  }
}

void lane_tracker::computed(const unit& u) noexcept {
  if (auto* f = find(u); f != nullptr && f->phase != flight_phase::write_back) {
    f->phase = flight_phase::write_back;
    ended_ = f->device;
  }
}

bool lane_tracker::complete(const unit& u, time_point now) {
  computed(u);
  if (std::erase_if(flights_, [&](const flight& f) { return f.what == u; }) == 0) {
    return false;
  }
  if (const auto device = bound_to(); device && !flies_on(*device)) {
    announced_->after.reset();
    available_ = now;
  }
  return true;
}

std::optional<model_loss> lane_tracker::fail(const unit& u) {
  if (find(u) == nullptr) {
    return std::nullopt;
  }
  const auto next = std::max(next_attempt_, u.attempt) + 1;
  auto loss = undo(next, [&](const flight& f) { return !visited_before(f.what, u); });
  std::ranges::copy_if(loss.lost, std::back_inserter(loss.withdraw), [&](const flight& f) { return f.what != u; });
  return loss;
}

std::optional<model_loss> lane_tracker::lose(device_id device) {
  const auto on_device = [device](const flight& f) { return f.device == device; };
  const auto first = std::ranges::find_if(flights_, on_device);
  if (first == flights_.end()) {
    return std::nullopt;
  }
  auto next = next_attempt_;
  for (const auto& f : flights_) {
    next = on_device(f) ? std::max(next, f.what.attempt) : next;
  }
  auto loss = undo(next + 1, [from = first->what](const flight& f) { return !visited_before(f.what, from); });
  std::ranges::remove_copy_if(loss.lost, std::back_inserter(loss.withdraw), on_device);
  return loss;
}

const flight* lane_tracker::find(const unit& u) const noexcept {
  const auto found = std::ranges::find(flights_, u, &flight::what);
  return found == flights_.end() ? nullptr : &*found;
}

bool lane_tracker::stale(const unit& u) const noexcept {
  return u.attempt < next_attempt_ || (newest_ && u.attempt < newest_->attempt);
}

void lane_tracker::check_order(const unit& u) const {
  if (!newest_ || newest_->attempt < u.attempt) {
    return;
  }
  if (announced_ || !visited_before(*newest_, u)) {
    throw fault_error{fault_code::internal, to_string(u) + " is announced after " + to_string(*newest_) +
                                                (announced_ ? ", which is not placed yet" : ", out of order")};
  }
}

bool lane_tracker::flies_on(device_id device) const noexcept {
  return std::ranges::find(flights_, device, &flight::device) != flights_.end();
}

template <class Predicate>
model_loss lane_tracker::undo(std::uint32_t next, const Predicate& undone) {
  // A flight of attempt `next` or newer was announced by a task that was notified of this loss before this tracker.
  const auto kept = [&](const flight& f) { return !undone(f) || f.what.attempt >= next; };
  const auto lost = std::stable_partition(flights_.begin(), flights_.end(), kept);
  next_cost_ = lost->cost;
  if (lost == flights_.begin() || visited_before(std::prev(lost)->what, lost->what)) {
    reached_ = {.what = lost->what};
  }
  for (auto f = lost; f != flights_.end(); ++f) {
    remaining_ += f->wall;
  }
  model_loss loss{.model = lost->what.model, .next_attempt = next, .lost = {lost, flights_.end()}, .withdraw = {}};
  flights_.erase(lost, flights_.end());
  came_from_.reset();
  begins_step_ = false;
  next_attempt_ = next;
  if (announced_ && announced_->next.attempt < next) {
    announced_.reset();
  }
  if (const auto device = bound_to(); device && !flies_on(*device)) {
    announced_->after.reset();
  }
  return loss;
}

}  // namespace hydra
