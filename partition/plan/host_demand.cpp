#include "partition/plan/plan.hpp"
#include "partition/plan/shared_bases.hpp"
#include "runtime/memory/host_arena.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <vector>

namespace hydra {

namespace {

byte_count charge(byte_count n) { return n == byte_count{} ? n : host_charge(n); }

byte_count state_bytes(const shard_plan& s) {
  byte_count sum;
  for (const auto each : s.state_buffers()) {
    sum += charge(each);
  }
  return sum;
}

/// What a backward visit produces for its shard: gradients, or the next version.
byte_count update_of(const shard_plan& s) {
  return s.steps_on_device ? charge(s.parameters) + state_bytes(s) : charge(s.gradient_bytes());
}

shard_index index_of(const model_plan& m, const shard_plan& s) {
  return shard_index{static_cast<std::uint32_t>(&s - m.shards.data())};
}

/// What all backward visits of a step leave for a shard: a sum for each replica; while a wave writes one back, the one
/// that it has read is still there. (More sums are not needed: the units of a shard and replica that hold buffers for
/// their outputs complete without asking for more memory, since leases that only read are granted at once, and each
/// frees the sum before.)
byte_count updates_of(const model_plan& m, const shard_plan& s) {
  const auto partial = m.waves > 1 ? charge(s.partial_sum_bytes()) : byte_count{};
  const auto sums = m.shape().sums_of(index_of(m, s).value);
  return (std::max(update_of(s), partial) + partial) * sums + update_of(s) * m.gathered_sums;
}

/// The losses that one visit leaves.
byte_count losses(std::uint32_t micro_batches) { return charge(byte_count{sizeof(float)} * micro_batches); }

bool is_behind_pieces(const model_plan& m, const shard_plan& s) {
  return std::ranges::find(m.groups, index_of(m, s).value, &shard_group::past) != m.groups.end();
}

/// It is side by side with others.
bool leaves_term(const model_plan& m, const shard_plan& s) { return group_of(index_of(m, s), m.groups) != nullptr; }

/// Of a micro-batch, by one visit. Behind shards side by side the sum of what they leave is one, too.
byte_count largest_output(const model_plan& m, const shard_plan& s) {
  const auto input = charge(s.input), output = charge(s.output);
  return is_behind_pieces(m, s) ? input + output : std::max(input, output);
}

/// What shards side by side leave of a micro-batch until the shard behind them, or backwards that before them, has
/// added it: of one group at a time.
byte_count terms_of(const model_plan& m) {
  byte_count most;
  for (const auto& g : m.groups) {
    byte_count forward, backward;
    for (auto s = g.first; s < g.past(); ++s) {
      forward += charge(m.shards[s].output);
      backward += charge(m.shards[s].input);
    }
    most = std::max({most, forward, backward});
  }
  return most;
}

/// The most bytes that one visit writes back at a time.
byte_count write_back(const model_plan& m, const shard_plan& s) {
  const auto round = std::min(m.evaluation.round, m.evaluation.micro_batches);
  const auto visit = m.shape().batches_of(index_of(m, s).value);
  const auto outputs = largest_output(m, s) * std::max(visit, round);
  const auto sum = m.waves > 1 ? std::max(update_of(s), charge(s.partial_sum_bytes())) : update_of(s);
  return outputs + sum + losses(visit);
}

/// Of each lane a round of batches, and boundaries read, produced and staged; a round that is read ahead; losses.
byte_count evaluation_demand(const model_plan& m) {
  if (m.evaluation.micro_batches == 0) {
    return {};
  }
  byte_count largest_boundary;
  for (const auto& s : m.shards) {
    largest_boundary = std::max(largest_boundary, charge(s.output));
  }
  const auto round = std::min(m.evaluation.round, m.evaluation.micro_batches);
  const auto batch = charge(m.shards.front().input) + charge(m.shards.back().targets);
  const auto sums = m.groups.empty() ? byte_count{} : largest_boundary * 2 + terms_of(m);  // of inputs, and their terms
  const auto lane = (batch + largest_boundary * 3 + sums) * round + losses(2 * round);
  return lane * m.shape().lanes() + batch * round;
}

/// What only the host reads and writes: moments, and masters where they differ from what is promoted.
byte_count kept_by(const model_plan& m) {
  byte_count sum;
  for (const auto& s : m.shards) {
    sum += s.steps_on_device ? byte_count{} : state_bytes(s);
  }
  return sum;
}

/// Everything else of one model that may be in host memory at the same time, without its bases.
byte_count transfers_of(const model_plan& m) {
  byte_count sum;
  byte_count largest_upstream;
  for (const auto& s : m.shards) {
    sum += charge(s.parameters) + updates_of(m, s);
    sum += s.steps_on_device ? state_bytes(s) : byte_count{};
    const auto joined = is_behind_pieces(m, s) ? charge(s.input) : byte_count{};
    const auto output = leaves_term(m, s) ? byte_count{} : charge(s.output);
    sum += (joined + output) * m.micro_batches;  // boundary activations
    largest_upstream = std::max({largest_upstream, joined, output});
  }
  sum += terms_of(m) * (2ull * m.micro_batches);  // of a group, and of the next one while the first ones are added
  sum += largest_upstream * (3ull * m.micro_batches);     // read, produced, staged
  const auto batch = (charge(m.shards.front().input) + charge(m.shards.back().targets)) * m.micro_batches;
  const auto step = m.shape();
  const auto last = step.shards - 1;
  sum += batch * 2 + losses(step.batches_of(last)) * step.visits_of(last);  // batches of this step and the next; losses
  return sum + evaluation_demand(m);
}

/// Of as many steps as may run at a time, the largest ones.
byte_count update_scratch(std::span<const model_plan> models) {
  std::vector<byte_count> all;
  std::size_t threads = 0;
  for (const auto& m : models) {
    threads = std::max(threads, static_cast<std::size_t>(m.update_threads));
    std::ranges::transform(m.shards, std::back_inserter(all), &shard_plan::update_scratch);
  }
  std::ranges::sort(all, std::greater{});
  all.resize(std::min(all.size(), threads));
  return std::accumulate(all.begin(), all.end(), byte_count{});
}

}  // namespace

byte_count host_demand(std::span<const model_plan> models, std::size_t devices) {
  auto sum = host_transfers(models, devices) + update_scratch(models);
  for (const auto& m : models) {
    sum += kept_by(m);
  }
  return sum;
}

byte_count host_transfers(std::span<const model_plan> models, std::size_t devices) {
  byte_count sum = base_bytes(models);
  byte_count attempt;  // a lost attempt writes back to buffers of its own
  for (const auto& m : models) {
    sum += transfers_of(m);
    for (const auto& s : m.shards) {
      attempt = std::max(attempt, write_back(m, s));
    }
  }
  return sum + attempt * (2 * devices);  // at most two units of a device have such buffers: visit_staging::in_line()
}

}  // namespace hydra
