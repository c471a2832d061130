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
  if (u.after && !holds_predecessor(*u.after)) {
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
  release_if_unbound(now);
  return true;
}

void lane_tracker::release_if_unbound(time_point now) {
  if (const auto device = bound_to(); device && !holds_predecessor(*device)) {
    announced_->after.reset();
    available_ = now;
  }
}

std::optional<model_loss> lane_tracker::fail(const unit& u) {
  if (find(u) == nullptr) {
    return std::nullopt;
  }
  auto loss = undo(u, std::max(next_attempt_, u.attempt) + 1);
  std::ranges::copy_if(loss.lost, std::back_inserter(loss.withdraw), [&](const flight& f) { return f.what != u; });
  return loss;
}

model_loss lane_tracker::follow(const unit& first) {
  auto loss = undo(first, unused_attempt());
  loss.withdraw = loss.lost;
  return loss;
}

std::optional<model_loss> lane_tracker::lose(device_id device, const std::optional<unit>& first) {
  const auto here = std::ranges::find(flights_, device, &flight::device);
  if (here == flights_.end() && !first) {
    return std::nullopt;
  }
  const bool all_follow = first && (here == flights_.end() || visited_before(*first, here->what));
  auto loss = undo(all_follow ? *first : unit{here->what}, unused_attempt());
  std::ranges::copy_if(loss.lost, std::back_inserter(loss.withdraw),
                       [&](const flight& f) { return f.device != device; });
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

bool lane_tracker::holds_predecessor(device_id device) const noexcept {
  if (std::ranges::find(flights_, device, &flight::device) != flights_.end()) {
    return true;
  }
  return before_ != nullptr && std::ranges::any_of(before_->flights_, [&](const flight& f) {
    return f.device == device && adds_to_sum_of(announced_->next, f.what);
  });
}

std::uint32_t lane_tracker::unused_attempt() const noexcept {
  return std::max(next_attempt_, newest_ ? newest_->attempt : 0) + 1;
}

model_loss lane_tracker::undo(const unit& first, std::uint32_t next) {
  // A flight of attempt `next` or newer was announced by a task that was notified of this loss before this tracker.
  const auto kept = [&](const flight& f) { return visited_before(f.what, first) || f.what.attempt >= next; };
  const auto lost = std::stable_partition(flights_.begin(), flights_.end(), kept);
  model_loss loss{.model = first.model, .first = first, .next_attempt = next, .lost = {lost, flights_.end()},
                  .withdraw = {}};
  flights_.erase(lost, flights_.end());
  if (!loss.lost.empty()) {
    come_before(loss.lost);
  }
  drop_announcement(next);
  return loss;
}

/// The next unit is the first of these again.
void lane_tracker::come_before(const std::vector<flight>& lost) {
  next_cost_ = lost.front().cost;
  if (flights_.empty() || visited_before(flights_.back().what, lost.front().what)) {
    reached_ = {.what = lost.front().what};
  }
  for (const auto& f : lost) {
    remaining_ += f.wall;
  }
  if (flights_.empty() || visited_before(flights_.back().what, lost.front().what)) {
    reached_ = {.what = lost.front().what};
  }
  came_from_.reset();
  begins_step_ = false;
}

void lane_tracker::drop_announcement(std::uint32_t next_attempt) {
  next_attempt_ = next_attempt;
  if (announced_ && announced_->next.attempt < next_attempt) {
    announced_.reset();
    begins_step_ = false;  // it waits for nothing
  }
  if (const auto device = bound_to(); device && !holds_predecessor(*device)) {
    announced_->after.reset();
  }
}

}  // namespace hydra
