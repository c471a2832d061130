#include "actors/policy/flight_table.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <tuple>

namespace hydra {

namespace {

/// The order of the table; attempts at one visit are in order.
auto order_of(const flight& f) { return std::tuple{f.lane, f.at, f.what.attempt}; }

bool is_of_lane(const unit& u, const work_unit& first) {
  return u.replica == first.what.replica && u.wave == first.what.wave && u.piece == first.what.piece;
}

}  // namespace

// -- facts -----------------------------------------------------------------------------------------------------------

std::uint32_t flight_table::lane_of(const unit& u) const {
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    if (is_of_lane(u, step().at(step().lane(lane).front()))) {
      return lane;
    }
  }
  throw fault_error{fault_code::internal, to_string(u) + " is of no lane of its model"};
}

lane_position flight_table::position_of(const unit& u) const {
  return {.step = u.step,
          .trains = u.way != direction::evaluate,
          .round = model_graphs::turn_of(u).first,
          .node = graphs_->node_of(u)};
}

std::span<const flight> flight_table::flights(std::uint32_t lane) const {
  return std::ranges::equal_range(flights_, lane, {}, &flight::lane);
}

const flight* flight_table::find(const unit& u) const noexcept {
  const auto found = std::ranges::find(flights_, u, &flight::what);
  return found == flights_.end() ? nullptr : &*found;
}

std::size_t flight_table::announced() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(lanes_, [](const lane_row& lane) { return lane.announced.has_value(); }));
}

bool flight_table::is_predecessor(const flight& f, std::uint32_t lane) const {
  const auto& next = lanes_[lane].newest_at;
  const auto& graph = graphs_->of(*lanes_[lane].newest);
  return f.lane == lane ||
         (f.at.same_turn(next) && std::ranges::count(graph.predecessors(next.node), f.at.node) > 0);
}

bool flight_table::holds_predecessor(std::uint32_t lane, device_id device) const {
  return std::ranges::any_of(flights_, [&](const flight& f) { return f.device == device && is_predecessor(f, lane); });
}

bool flight_table::is_landing(std::uint32_t lane) const {
  const auto device = lanes_[lane].bound_to();
  const auto computes = [&](const flight& f) {
    return f.device == device && f.phase != flight_phase::write_back && is_predecessor(f, lane);
  };
  return device && std::ranges::none_of(flights_, computes);
}

// -- events ----------------------------------------------------------------------------------------------------------

bool flight_table::announce(const unit_ready& u, time_point now) {
  const auto at = lane_of(u.what);
  auto& lane = lanes_[at];
  if (u.what.attempt < lane.next_attempt || (lane.newest && u.what.attempt < lane.newest->attempt)) {
    return false;  // stale
  }
  const auto position = position_of(u.what);
  check_order(lane, u.what, position);
  lane.announced = u;
  lane.reads = reads_of(graphs_->of(u.what), position.node, model_graphs::turn_of(u.what));
  lane.newest = u.what;
  lane.newest_at = position;
  lane.reached = {.at = position};
  lane.remaining = u.remaining;
  lane.next_cost = u.cost;
  lane.available = now;
  unbind(at);
  return true;
}

void flight_table::check_order(const lane_row& lane, const unit& u, const lane_position& at) {
  if (!lane.newest || lane.newest->attempt < u.attempt) {
    return;
  }
  if (lane.announced || at <= lane.newest_at) {
    throw fault_error{fault_code::internal, to_string(u) + " is announced after " + to_string(*lane.newest) +
                                                (lane.announced ? ", which is not placed yet" : ", out of order")};
  }
}

void flight_table::leave() {
  for (auto& lane : lanes_) {
    lane.announced.reset();
  }
}

flight flight_table::place(std::uint32_t at, device_id device, time_point now) {
  auto& lane = lanes_[at];
  const auto& u = *lane.announced;
  const flight f{.what = u.what,
                 .lane = at,
                 .at = lane.newest_at,
                 .device = device,
                 .cost = u.cost,
                 .wall = std::max(u.remaining - u.then_remaining, duration::zero()),
                 .bytes = lane.reads.parameters,
                 .placed = now};
  lane.remaining = u.then_remaining;
  lane.next_cost = u.then_cost;
  lane.begins_step = f.at.trains && step().ends_lane(f.at.node) && u.then_remaining > duration::zero();
  lane.came_from = device;
  lane.reached->placed = true;
  lane.announced.reset();
  flights_.insert(std::ranges::upper_bound(flights_, order_of(f), {}, order_of), f);
  return f;
}

const flight* flight_table::started(const unit& u) noexcept {
  auto* f = find(u);
  if (f != nullptr && f->phase == flight_phase::staged) {
    f->phase = flight_phase::computing;
  }
  return f;
}

const flight* flight_table::computed(const unit& u) noexcept {
  auto* f = find(u);
  if (f != nullptr && f->phase != flight_phase::write_back) {
    f->phase = flight_phase::write_back;
    lanes_[f->lane].ended = f->device;
  }
  return f;
}

std::optional<flight> flight_table::complete(const unit& u, time_point now) {
  const auto* found = computed(u);
  if (found == nullptr) {
    withdrawn_ended(u);
    return std::nullopt;
  }
  const auto ended = *found;
  flights_.erase(flights_.begin() + (found - flights_.data()));
  release(ended.lane, now);
  for (const auto n : ended.at.trains ? step().successors(ended.at.node) : std::span<const node_index>{}) {
    release(step().lane_of(n), now);
  }
  return ended;
}

bool flight_table::unbind(std::uint32_t at) {
  auto& lane = lanes_[at];
  const auto device = lane.bound_to();
  if (!device || holds_predecessor(at, *device)) {
    return false;
  }
  lane.announced->after.reset();
  return true;
}

void flight_table::release(std::uint32_t lane, time_point now) {
  if (unbind(lane)) {
    lanes_[lane].available = now;
  }
}

// -- losses ----------------------------------------------------------------------------------------------------------

losses flight_table::fail(const unit& u) {
  if (find(u) == nullptr) {
    withdrawn_ended(u);
    return {};
  }
  return undo([&](const flight& f) { return f.what == u; }, &u);
}

losses flight_table::lose(device_id device) {
  std::erase_if(withdrawn_, [&](const flight& f) { return f.device == device; });
  return undo([&](const flight& f) { return f.device == device; }, nullptr);
}

void flight_table::withdrawn_ended(const unit& u) {
  std::erase_if(withdrawn_, [&](const flight& f) { return f.what == u; });
}

losses flight_table::undo(const std::function<bool(const flight&)>& hit, const unit* failed) {
  const auto causes = first_hits(hit);
  losses all;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto there = flights(lane);
    const auto here = std::ranges::find_if(there, hit);
    const auto behind = first_behind(causes, lane);
    if (here == there.end() && !behind) {
      continue;
    }
    const bool only_follows = here == there.end() || (behind && *behind < here->at);
    const auto at = only_follows ? *behind : here->at;
    const auto first = only_follows ? unit_at(at, causes.front().what.model) : here->what;
    const auto next = failed != nullptr && !only_follows ? std::max(lanes_[lane].next_attempt, first.attempt) + 1
                                                         : lanes_[lane].unused_attempt();
    model_loss loss{.model = first.model, .first = first, .next_attempt = next, .lost = undo(lane, at, next),
                    .withdraw = {}};
    std::ranges::copy_if(loss.lost, std::back_inserter(loss.withdraw), std::not_fn(hit));
    withdrawn_.insert(withdrawn_.end(), loss.withdraw.begin(), loss.withdraw.end());
    const bool failed_here = failed != nullptr && !only_follows;
    all.insert(failed_here ? all.begin() : all.end(), std::move(loss));
  }
  return all;
}

/// Of each lane, but evaluations, which no other lane follows.
std::vector<flight> flight_table::first_hits(const std::function<bool(const flight&)>& hit) const {
  std::vector<flight> all;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const auto there = flights(lane);
    if (const auto here = std::ranges::find_if(there, hit); here != there.end() && here->at.trains) {
      all.push_back(*here);
    }
  }
  return all;
}

std::optional<lane_position> flight_table::first_behind(const std::vector<flight>& lost, std::uint32_t lane) const {
  std::optional<lane_position> first;
  const auto nodes = step().lane(lane);
  for (const auto& cause : lost) {
    const auto before = [&](node_index n) { return !step().follows(n, cause.at.node); };
    if (const auto found = std::ranges::partition_point(nodes, before); found != nodes.end()) {
      const lane_position at{.step = cause.at.step, .trains = true, .round = {}, .node = *found};
      first = first ? std::min(*first, at) : at;
    }
  }
  return first;
}

unit flight_table::unit_at(const lane_position& at, model_id model) const {
  auto u = step().at(at.node).what;
  u.model = model;
  u.step = at.step;
  return u;
}

std::vector<flight> flight_table::undo(std::uint32_t at, const lane_position& first, std::uint32_t next) {
  // A flight of attempt `next` or newer was announced by a task that was notified of this loss before this table.
  const auto kept = [&](const flight& f) { return f.lane != at || f.at < first || f.what.attempt >= next; };
  const auto undone = std::ranges::stable_partition(flights_, kept);
  const std::vector<flight> lost(undone.begin(), undone.end());
  flights_.erase(undone.begin(), undone.end());
  if (!lost.empty()) {
    come_before(at, lost);
  }
  auto& lane = lanes_[at];
  lane.next_attempt = next;
  if (lane.announced && lane.announced->what.attempt < next) {
    lane.announced.reset();
    lane.begins_step = false;  // it waits for nothing
  }
  unbind(at);
  return lost;
}

/// The next unit is the first of these again.
void flight_table::come_before(std::uint32_t at, const std::vector<flight>& lost) {
  auto& lane = lanes_[at];
  const auto left = flights(at);
  if (left.empty() || left.back().at < lost.front().at) {
    lane.reached = {.at = lost.front().at};
  }
  lane.next_cost = lost.front().cost;
  for (const auto& f : lost) {
    lane.remaining += f.wall;
  }
  lane.came_from.reset();
  lane.begins_step = false;
}

}  // namespace hydra
