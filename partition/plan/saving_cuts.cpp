#include "partition/plan/saving_cuts.hpp"

#include "models/parameter_layout.hpp"
#include "partition/profile/update_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hydra {

namespace {

/// What a unit takes beside its layers, roughly: so that a shard does not become a layer for nothing.
constexpr duration beside_layers = std::chrono::microseconds(100);

/// Memory is tried in steps of this ratio.
constexpr double ratio = 0.85;

struct layer_range {
  std::size_t first, last;
};

layer_range shard_of(const plan_request& m, const cut_points& cuts, std::size_t i) {
  return {cuts[i], last_layer(cuts, i, m.profile->layers.size())};
}

/// For all micro-batches of a step.
duration forward_time(const plan_request& m, layer_range shard) {
  duration sum{};
  for (auto i = shard.first; i < shard.last; ++i) {
    sum += m.profile->layers[i].forward * m.micro_batches;
  }
  return sum;
}

duration visit_times(const plan_request& m, const cut_points& cuts) {
  auto sum = beside_layers * static_cast<duration::rep>(2 * cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto shard = shard_of(m, cuts, i);
    sum += i + 1 < cuts.size() ? forward_time(m, shard) : duration{};
    for (auto l = shard.first; l < shard.last; ++l) {
      sum += m.profile->layers[l].backward * m.micro_batches;
    }
  }
  return sum;
}

/// What a model alone waits for between two steps: gradients of its first shard to the host, their update, its
/// parameters back.
duration boundary_time(const plan_request& m, const cut_points& cuts) {
  if (m.stepping.gaps_are_filled) {
    return {};
  }
  const parameter_layout first(*m.model, 0, last_layer(cuts, 0, m.profile->layers.size()));
  return m.stepping.link.time_for(first.device_bytes()) * 2 +
         m.update.time_for(work_of(first, m.rule)) / m.stepping.host_threads;
}

/// Largest W and P + C of all models.
shard_demand demand_of(std::span<const plan_request> models, const cut_set& set) {
  shard_demand most;
  for (std::size_t i = 0; i < models.size(); ++i) {
    most = larger(most, hydra::demand_of(*models[i].profile, set.cuts[i]));
  }
  return most;
}

duration step_time(std::span<const plan_request> models, const cut_set& set, byte_count usable) {
  const auto demand = demand_of(models, set);
  const auto taken = demand.staging + demand.computing;
  duration sum{};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto room = usable > taken ? usable - taken : byte_count{};
    sum += visit_times(models[i], set.cuts[i]) + boundary_time(models[i], set.cuts[i]) -
           saved_time(models[i], set.cuts[i], room);
  }
  return sum;
}

byte_count scaled(byte_count n, double by) {
  return byte_count{static_cast<std::uint64_t>(static_cast<double>(n.value()) * by)};
}

}  // namespace

duration saved_time(const plan_request& m, const cut_points& cuts, byte_count room) {
  duration sum{};
  for (auto i = cuts.size(); i-- > 0;) {
    const auto shard = shard_of(m, cuts, i);
    const auto each = saved_bytes_of(m, shard.first, shard.last);
    const auto kept = each > byte_count{} ? std::min<std::uint64_t>(m.micro_batches, room.value() / each.value()) : 0;
    sum += forward_time(m, shard) * static_cast<duration::rep>(kept) / m.micro_batches;
    room -= each * kept;
  }
  return sum;
}

cut_set saving_cuts(std::span<const plan_request> models, byte_count usable, cut_set best) {
  const auto by_the_paper = [](const plan_request& m) { return std::holds_alternative<greedy_cut>(m.cuts); };
  if (std::ranges::any_of(models, by_the_paper)) {
    return best;  // filled as far as the memory goes
  }
  const auto least = staging_search(models, usable).least();
  auto time = step_time(models, best, usable);
  for (auto memory = scaled(usable, ratio); least && memory >= *least; memory = scaled(memory, ratio)) {
    auto other = staging_search(models, memory).best();
    if (!other) {
      continue;
    }
    const auto with = step_time(models, *other, usable);
    if (with.count() < 0.99 * static_cast<double>(time.count())) {
      best = *std::move(other);
      time = with;
    }
  }
  return best;
}

}  // namespace hydra
