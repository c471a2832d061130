#include "runtime/base/step_graph.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

/// The first micro-batch of part `i` of `count` micro-batches in `parts` parts: the first count % parts parts have one
/// more than the others.
std::uint32_t begin_of(std::uint32_t i, std::uint32_t count, std::uint32_t parts) {
  return i * (count / parts) + std::min(i, count % parts);
}

/// The part in which micro-batch `k` is.
std::uint32_t part_of(std::uint32_t k, std::uint32_t count, std::uint32_t parts) {
  const auto small = count / parts;
  const auto in_large_parts = (small + 1) * (count % parts);
  return k < in_large_parts ? k / (small + 1) : count % parts + (k - in_large_parts) / small;
}

}  // namespace

step_graph::step_graph(const step_shape& shape) : shape_(shape) {
  const auto refuse = [](std::string text) { throw fault_error{fault_code::bad_input, std::move(text)}; };
  if (shape.shards == 0 || shape.micro_batches == 0 || shape.replicas == 0 || shape.waves == 0) {
    refuse("a step has at least one shard, micro-batch, replica and wave");
  }
  if (shape.micro_batches % shape.replicas != 0) {
    refuse(std::to_string(shape.replicas) + " replicas do not divide the " + std::to_string(shape.micro_batches) +
           " micro-batches of a step");
  }
  if (const auto each = shape.micro_batches / shape.replicas; shape.waves > each) {
    refuse(std::to_string(shape.waves) + " waves are more than the " + std::to_string(each) +
           " micro-batches of a replica");
  }
}

micro_batch_range step_graph::micro_batches_of(std::uint32_t lane) const noexcept {
  const auto each = shape_.micro_batches / shape_.replicas;
  const auto wave = lane % shape_.waves;
  const auto begin = begin_of(wave, each, shape_.waves);
  return {.first = micro_batch_index{lane / shape_.waves * each + begin},
          .count = begin_of(wave + 1, each, shape_.waves) - begin};
}

std::uint32_t step_graph::lane_of(micro_batch_index k) const noexcept {
  const auto each = shape_.micro_batches / shape_.replicas;
  return k.value / each * shape_.waves + part_of(k.value % each, each, shape_.waves);
}

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

std::vector<step_graph::node> step_graph::predecessors(node n) const {
  const auto place = n % lane_length();
  const auto wave = n / lane_length() % shape_.waves;
  std::vector<node> found;
  if (way_at(place) == direction::backward && wave > 0) {
    found.push_back(n - lane_length());
  }
  if (place > 0) {
    found.push_back(n - 1);
  }
  return found;
}

bool visited_before(const unit& a, const unit& b) noexcept {
  const auto key = [](const unit& u) {
    const auto shard = std::int64_t{u.shard.value};
    const auto phase = u.way == direction::evaluate ? 0 : u.way == direction::forward ? 1 : 2;
    return std::tuple{u.step, phase, u.first_micro_batch, u.way == direction::backward ? -shard : shard};
  };
  return key(a) < key(b);
}

}  // namespace hydra
