#include "partition/plan/cursor.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

bool evaluation_schedule::is_due(std::uint32_t done, std::uint32_t steps) const noexcept {
  if (range.micro_batches == 0 || (done == 0 && steps > 0) || done > steps) {
    return false;
  }
  return done == steps || (every > 0 && done % every == 0);
}

std::uint32_t evaluation_schedule::due_after(std::uint32_t done, std::uint32_t steps) const noexcept {
  if (range.micro_batches == 0 || done >= steps) {
    return 0;
  }
  const auto regular = every > 0 ? steps / every - done / every : 0;
  return regular + (every == 0 || steps % every != 0 ? 1 : 0);
}

cursor::cursor(model_id model, model_graphs_ptr graphs, std::uint32_t steps, const evaluation_schedule& evaluation)
    : model_(model), graphs_(std::move(graphs)), steps_(steps), evaluation_(evaluation) {}

std::uint64_t cursor::units() const noexcept {
  const std::uint64_t evaluations = steps_ == 0 && evaluates_after(0) ? 1 : evaluation_.due_after(0, steps_);
  const std::uint64_t rounds = evaluations * evaluation_.range.rounds();
  return std::uint64_t{steps_} * graph().size() + (rounds > 0 ? rounds * round().size() : 0);
}

// -- positions --------------------------------------------------------------------------------------------------------

bool cursor::at_end(const unit_position& p) const {
  return p.turn == turn_kind::evaluation ? !evaluates_after(p.step) || first_of(p) >= evaluation_.range.micro_batches
                                         : p.step >= steps_ || p.index >= graph().lane(p.lane).size();
}

unit_position cursor::begin_of(std::uint32_t step, std::uint32_t lane) const {
  unit_position begin{.step = step, .turn = turn_kind::evaluation, .index = 0, .lane = lane};
  begin.turn = at_end(begin) ? turn_kind::training : turn_kind::evaluation;
  return begin;
}

unit_position cursor::position_in(std::uint32_t step, std::uint32_t done, bool evaluated, std::uint32_t lane) const {
  return evaluated || done > 0 ? unit_position{step, turn_kind::training, done, lane} : begin_of(step, lane);
}

unit_position cursor::next(unit_position p) const {
  ++p.index;
  if (!at_end(p)) {
    return p;
  }
  return p.turn == turn_kind::evaluation ? position_in(p.step, 0, true, p.lane) : begin_of(p.step + 1, p.lane);
}

node_index cursor::node_of(const unit_position& p) const {
  return p.turn == turn_kind::evaluation ? node_index{p.index % round().size()}
                                         : graph().lane(p.lane)[p.index];
}

std::uint32_t cursor::first_of(const unit_position& p) const {
  return (p.index / round().size() * lanes() + p.lane) * evaluation_.range.round;
}

unit cursor::evaluation_at(const unit_position& p) const {
  const auto& lane = graph().at(graph().lane(p.lane).front()).what;
  const auto first = first_of(p);
  auto u = graphs_->rounds.at(evaluation_.range.size_of(first)).at(node_of(p)).what;
  u.replica = lane.replica;
  u.wave = lane.wave;
  u.piece = lane.piece;
  u.first_micro_batch = micro_batch_index{first};
  return u;
}

unit cursor::unit_at(const unit_position& p, std::uint32_t attempt) const {
  auto u = p.turn == turn_kind::evaluation ? evaluation_at(p) : graph().at(node_of(p)).what;
  u.model = model_;
  u.step = step_index{p.step};
  u.attempt = attempt;
  return u;
}

unit_position cursor::position_of(node_index n, std::uint32_t step) const {
  return {step, turn_kind::training, graph().place_in_lane(n), graph().lane_of(n)};
}

unit_position cursor::position_of(const unit& u) const {
  const auto n = graphs_->node_of(u);
  if (u.way != direction::evaluate) {
    return position_of(n, u.step.value);
  }
  const auto dealt = u.first_micro_batch.value / evaluation_.range.round;
  return {u.step.value, turn_kind::evaluation, dealt / lanes() * round().size() + n.value, dealt % lanes()};
}

bool cursor::ends_round(const unit_position& p) const {
  return p.turn == turn_kind::evaluation && round().ends_lane(node_of(p));
}

std::vector<unit_position> cursor::joined(const unit_position& p) const {
  std::vector<unit_position> all;
  if (p.turn == turn_kind::training) {
    for (const auto n : graph().predecessors(node_of(p))) {
      if (graph().lane_of(n) != p.lane) {
        all.push_back(position_of(n, p.step));
      }
    }
  }
  return all;
}

bool cursor::makes_version_of(const unit_position& p, const unit& next) const {
  if (p.turn == turn_kind::evaluation || p.step + 1 != next.step.value) {
    return false;
  }
  const auto& u = graph().at(node_of(p));
  return u.what.shard == next.shard && u.writes_any(block_role::parameters);
}

// -- times ------------------------------------------------------------------------------------------------------------

cursor::unit_class cursor::class_of(direction way, std::uint32_t shard) const {
  const auto& all = classes_.at(static_cast<std::size_t>(way));
  return shard < all.size() ? all[shard] : unit_class{};
}

cursor::unit_class& cursor::class_of(direction way, std::uint32_t shard) {
  auto& all = classes_.at(static_cast<std::size_t>(way));
  if (shard >= all.size()) {
    all.resize(shard + std::size_t{1});
  }
  return all[shard];
}

void cursor::measured(const unit& u, duration at_speed_one) {
  auto& c = class_of(u.way, u.shard.value);
  const auto seen = u.way == direction::evaluate ? at_speed_one / u.micro_batches : at_speed_one;
  c.time = c.seen ? c.time + (seen - c.time) / 4 : seen;
  c.seen = true;
}

duration cursor::time_of(const unit& u) const {
  return class_of(u.way, u.shard.value).time * (u.way == direction::evaluate ? u.micro_batches : 1);
}

duration cursor::rounds_from(std::uint32_t first) const {
  const auto& range = evaluation_.range;
  const auto left = range.micro_batches - std::min(first, range.micro_batches);
  const auto all_lanes = lanes() * range.round;
  duration one{};
  for (const auto& c : classes_.at(static_cast<std::size_t>(direction::evaluate))) {
    one += c.time;
  }
  return one * (left / all_lanes * range.round + std::min(left % all_lanes, range.round));
}

/// Of piece 0 of the first wave and replica, whose lane visits every shard.
node_index cursor::in_first_lane(node_index n) const {
  auto u = graph().at(n).what;
  u.shard.value -= std::exchange(u.piece, {}).value;
  u.replica = {};
  u.wave = {};
  u.first_micro_batch = {};
  return graph().find(u).value();
}

/// The rest of this round, and the rounds after it.
duration cursor::evaluation_left(const unit_position& p) const {
  auto left = rounds_from(first_of(p) + lanes() * evaluation_.range.round);
  auto u = evaluation_at(p);
  for (auto n = node_of(p); n.value < round().size(); n = n.next()) {
    u.shard = round().at(n).what.shard;
    left += time_of(u);
  }
  return left;
}

duration cursor::remaining(const unit_position& p) const {
  duration step{};
  duration left = p.turn == turn_kind::evaluation && !at_end(p) ? evaluation_left(p) : duration{};
  const auto own = graph().lane(p.lane);
  const auto begun = p.turn == turn_kind::training ? p.index : 0;
  const auto first = begun < own.size() ? in_first_lane(own[begun]) : node_index{graph().size()};
  for (const auto n : graph().lane(0)) {
    const auto time = time_of(graph().at(n).what);
    step += time;
    left += p.step < steps_ && n >= first ? time : duration{};
  }
  const auto steps = p.step < steps_ ? steps_ - p.step - 1 : 0;
  return left + step * steps +
         rounds_from(p.lane * evaluation_.range.round) * evaluation_.due_after(p.step, steps_);
}

}  // namespace hydra
