#pragma once
// Units, candidates and their values, as short as tests need them.

#include "actors/policy/flight.hpp"
#include "actors/policy/policy.hpp"
#include "runtime/base/block_id.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hydra::test {

inline time_point at(int us) { return time_point{} + std::chrono::microseconds{us}; }

inline unit visit(std::uint32_t model, std::uint32_t step, direction way, std::uint32_t shard,
                  std::uint32_t attempt = 0) {
  unit u;
  u.model = model_id{model};
  u.step = step_index{step};
  u.way = way;
  u.shard = shard_index{shard};
  u.attempt = attempt;
  return u;
}

inline unit forward(std::uint32_t model, std::uint32_t step, std::uint32_t shard, std::uint32_t attempt = 0) {
  return visit(model, step, direction::forward, shard, attempt);
}

inline unit backward(std::uint32_t model, std::uint32_t step, std::uint32_t shard, std::uint32_t attempt = 0) {
  return visit(model, step, direction::backward, shard, attempt);
}

inline unit evaluate(std::uint32_t model, std::uint32_t version, std::uint32_t shard) {
  return visit(model, version, direction::evaluate, shard);
}

/// The same visit of another lane, of a model with one replica or one wave and a micro-batch in each.
inline unit in_lane(unit u, std::uint32_t wave, std::uint32_t replica = 0) {
  u.replica = replica_id{replica};
  u.wave = wave_index{wave};
  u.first_micro_batch = micro_batch_index{wave + replica};
  return u;
}

/// F_0 .. F_{S-2}, B_{S-1} .. B_0 of each step.
inline std::vector<unit> chain_of(std::uint32_t model, std::uint32_t shards, std::uint32_t steps) {
  std::vector<unit> units;
  for (std::uint32_t n = 0; n < steps; ++n) {
    for (std::uint32_t s = 0; s + 1 < shards; ++s) {
      units.push_back(forward(model, n, s));
    }
    for (std::uint32_t s = shards; s-- > 0;) {
      units.push_back(backward(model, n, s));
    }
  }
  return units;
}

inline unit_ready ready(const unit& u, std::optional<device_id> after = std::nullopt, int remaining_us = 1000) {
  return {.what = u,
          .after = after,
          .remaining = std::chrono::microseconds{remaining_us},
          .cost = std::chrono::microseconds{10},
          .then_remaining = std::chrono::microseconds{remaining_us - 10},
          .then_cost = std::chrono::microseconds{10}};
}

inline block_id parameters(const unit& u) {
  block_id b;
  b.model = u.model;
  b.replica = u.replica;
  b.step = u.step;
  b.shard = u.shard;
  return b;
}

/// The units of some flights.
inline std::vector<unit> units_of(std::span<const flight> flights) {
  std::vector<unit> units;
  for (const auto& f : flights) {
    units.push_back(f.what);
  }
  return units;
}

}  // namespace hydra::test
