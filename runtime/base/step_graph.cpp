#include "runtime/base/step_graph.hpp"

#include <tuple>

namespace hydra {

step_graph::step_graph(const step_shape& shape) : shape_(shape) { check_shape(shape); }

unit step_graph::at(node n) const noexcept {
  const auto lane = n / lane_length();
  const auto place = n % lane_length();
  const auto range = micro_batches_of(lane);
  unit u;
  u.replica = replica_id{lane / shape_.waves};
  u.wave = wave_index{lane % shape_.waves};
  u.way = way_at(place);
  u.shard = shard_index{shard_at(place)};
  u.first_micro_batch = range.first;
  u.micro_batches = range.count;
  return u;
}

bool visited_before(const unit& a, const unit& b) noexcept {
  const auto key = [](const unit& u) {
    const auto shard = std::int64_t{u.shard.value};
    const auto phase = u.way == direction::evaluate ? 0 : u.way == direction::forward ? 1 : 2;
    return std::tuple{u.step, phase, u.first_micro_batch, u.way == direction::backward ? -shard : shard};
  };
  return key(a) < key(b);
}

bool follows(const unit& later, const unit& earlier) noexcept {
  if (same_lane(later, earlier)) {
    return visited_before(earlier, later);
  }
  const bool passes_sums = later.model == earlier.model && later.replica == earlier.replica &&
                           later.step == earlier.step && later.wave > earlier.wave &&
                           later.way == direction::backward && earlier.way != direction::evaluate;
  return passes_sums && (earlier.way == direction::forward || later.shard <= earlier.shard);
}

}  // namespace hydra
