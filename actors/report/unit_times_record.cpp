#include "actors/report/unit_times_record.hpp"

#include "partition/plan/shared_bases.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace hydra {

namespace {

constexpr double parts_of_octave = 4;

int part_of(duration t) {
  return static_cast<int>(
      std::floor(std::log2(static_cast<double>(std::max<std::int64_t>(t.count(), 1))) * parts_of_octave));
}

duration at_speed_one(const visit_times& t) {
  return duration{static_cast<std::int64_t>(static_cast<double>(t.compute.count()) * t.speed)};
}

void add_to(time_sample& sample, const std::optional<duration>& t) {
  if (t) {
    sample.add(*t);
  }
}

}  // namespace

void time_sample::add(duration t) {
  auto& same = parts_[part_of(t)];
  ++same.count;
  same.sum += static_cast<double>(t.count());
  least_ = count_ == 0 ? t : std::min(least_, t);
  ++count_;
}

duration time_sample::mean() const {
  std::uint64_t below = 0;
  int median = 0;
  for (const auto& [number, some] : parts_) {
    below += some.count;
    if (2 * below >= count_) {
      median = number;
      break;
    }
  }
  const auto highest = median + static_cast<int>(std::log2(3.0) * parts_of_octave);
  part kept;
  for (const auto& [number, some] : parts_) {
    if (number <= highest) {
      kept.count += some.count;
      kept.sum += some.sum;
    }
  }
  return kept.count == 0 ? duration{} : duration{std::llround(kept.sum / static_cast<double>(kept.count))};
}

unit_times without_times(const model_plan& plan) {
  unit_times t{.groups = plan.groups,
               .first_trained = plan.first_trained,
               .replicas = plan.replicas,
               .waves = plan.waves,
               .meets = plan.meets,
               .evaluation_micro_batches = plan.evaluation.micro_batches};
  const bool frozen = std::ranges::any_of(plan.shards, [](const shard_plan& s) { return s.base > byte_count{}; });
  for (const auto& s : plan.shards) {
    t.parameters.push_back(s.parameters);
    t.last_visit = s.base + s.parameters + s.backward.working;
    if (frozen) {
      t.bases.push_back({.promote = {}, .bytes = s.base, .shared = shared_name(s)});
    }
  }
  return t;
}

unit_times_record::unit_times_record(const sharded_model& m)
    : promote_(m.size()), promote_base_(m.size()), demote_(m.size()), update_(m.size()) {
  visits_.fill(per_shard(m.size()));
  for (const auto& s : m.plan.shards) {
    crosses_.push_back(!s.steps_on_device);
  }
}

void unit_times_record::add(const unit& u, const visit_times& t) {
  const auto s = u.shard.value;
  const auto parts = u.way == direction::evaluate ? u.micro_batches : 1;
  visits_[static_cast<std::size_t>(u.way)][s].add(at_speed_one(t) / parts);
  add_to(promote_base_[s], t.promote_base);
  if (crosses_[s]) {
    add_to(promote_[s], t.promote);
    add_to(demote_[s], t.demote);
  }
}

void unit_times_record::fill(unit_times& into, duration (time_sample::*value)() const) const {
  const auto all = [value](const per_shard& samples) {
    std::vector<duration> times(samples.size());  // no more memory than that: reports keep them
    std::ranges::transform(samples, times.begin(), [value](const time_sample& s) { return (s.*value)(); });
    return times;
  };
  into.forward = all(visits_[static_cast<std::size_t>(direction::forward)]);
  into.backward = all(visits_[static_cast<std::size_t>(direction::backward)]);
  into.evaluate = all(visits_[static_cast<std::size_t>(direction::evaluate)]);
  into.promote = all(promote_);
  into.demote = all(demote_);
  into.update = all(update_);
  for (std::size_t s = 0; s < into.bases.size(); ++s) {
    into.bases[s].promote = (promote_base_[s].*value)();
  }
}

}  // namespace hydra
