#include "actors/simulation/instance_bounds.hpp"

#include "actors/simulation/instance_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hydra {

namespace {

duration scaled(duration t, double by) {
  return by == 1 ? t : duration{static_cast<std::int64_t>(std::floor(static_cast<double>(t.count()) * by))};
}

std::vector<duration> scaled(std::vector<duration> times, double by) {
  for (auto& t : times) {
    t = scaled(t, by);
  }
  return times;
}

/// One model alone on the fastest device, with unlimited cache slots: only what is unavoidable takes time.
class staged_alone {
 public:
  staged_alone(const instance_model& m, const unit_times& times, double speed, bool prefetch)
      : model_(m), times_(times), speed_(speed), prefetch_(prefetch), ready_(m.forward.size()) {}

  /// Ends when the last version of every shard is ready.
  duration run() {
    for (std::uint32_t step = 0; step < model_.steps; ++step) {
      run_step();
    }
    return *std::ranges::max_element(ready_);
  }

 private:
  void run_step() {
    const auto shards = ready_.size();
    for (std::size_t s = 0; s + 1 < shards; ++s) {
      compute(std::max(staged(), ready_[s]) + model_.h2d[s], times_.forward[s]);
    }
    const auto last = shards - 1;
    compute(std::max(staged(), ready_[last]) + model_.h2d[last], times_.backward[last]);
    update(last);
    for (std::size_t s = last; s-- > model_.first_trained;) {
      compute(staged() + (s > 0 ? model_.activation : duration::zero()), times_.backward[s]);
      update(s);
    }
    for (std::size_t s = 0; s < model_.first_trained; ++s) {
      ready_[s] = ready_[model_.first_trained] - model_.optimizer[model_.first_trained] + model_.optimizer[s];
    }
  }

  /// The next unit is not staged before.
  duration staged() const { return prefetch_ ? begin_ : end_; }

  void compute(duration copied, duration cost) {
    begin_ = std::max(end_, copied);
    end_ = begin_ + duration{std::llround(static_cast<double>(cost.count()) / speed_)};
  }

  /// Gradients follow the unit's output on the link; if there are no gradients to copy nothing waits for the output.
  void update(std::size_t s) {
    const bool follows = s > model_.first_trained && model_.d2h_gradient[s] > duration::zero();
    const auto output = follows ? model_.activation : duration::zero();
    ready_[s] = end_ + output + model_.d2h_gradient[s] + model_.optimizer[s];
  }

  const instance_model& model_;
  const unit_times& times_;
  double speed_;
  bool prefetch_;
  std::vector<duration> ready_;
  duration begin_{};
  duration end_{};
};

/// At speed 1, if all units take `shortest` times the instance's times.
unit_times times_of(const instance_model& m, double shortest, model_id base_owner) {
  unit_times t{.first_trained = m.first_trained, .steps = m.steps, .replicas = m.replicas, .waves = m.waves};
  t.forward = scaled(m.forward, shortest);
  t.backward = scaled(m.backward, shortest);
  t.backward.back() = scaled(m.forward.back() + m.backward.back(), shortest);
  t.promote = m.h2d;
  t.demote = m.d2h_gradient;
  t.update = m.optimizer;
  std::fill_n(t.backward.begin(), m.first_trained, duration::zero());
  std::fill_n(t.demote.begin(), m.first_trained, duration::zero());
  t.last_visit = byte_count{1};  // in slots, as all bytes
  for (shard_index s; s.value < m.forward.size(); s = s.next()) {
    t.parameters.push_back(byte_count{base_copy(m, s.value) > duration{} ? 0u : 1u});  // besides a base they take none
    t.bases.push_back({.promote = base_copy(m, s.value),
                       .bytes = byte_count{1},
                       .shared = base_name(m, s, base_owner)});
  }
  return t;
}

}  // namespace

std::vector<bounds::named> instance_bounds::all() const {
  auto named = limits.all();
  if (staged_chain) {
    named.push_back({"staged_chain", *staged_chain});
  }
  if (staging.staged_work) {
    named.push_back({"staged_work", *staging.staged_work});
  }
  named.push_back({"slots", staging.slots});
  return named;
}

instance_bounds bounds_of(const schedule_instance& instance, completion_rule rule) {
  validate(instance);
  resources machines{.speeds = {}, .optimizer_workers = static_cast<int>(instance.host_workers)};
  for (const auto& d : instance.devices) {
    machines.speeds.push_back(d.speed);
  }
  const auto fastest = std::ranges::max(machines.speeds);
  machines.memory = byte_count{std::uint64_t{instance.slots} * instance.devices.size()};  // slots
  std::vector<unit_times> times;
  const auto owners = base_owners(instance);
  for (std::size_t i = 0; i < instance.models.size(); ++i) {
    times.push_back(times_of(instance.models[i], 1 - instance.noise, owners[i]));
  }
  instance_bounds b{.limits = lower_bounds(times, machines), .staging = staging_bounds_of(instance, times, rule)};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& m = instance.models[i];
    const auto alone = lower_bounds({&times[i], 1}, machines).chain;
    b.limits.chain = std::max(b.limits.chain, m.arrival + alone);
    // Of several lanes, or units staged behind each other, another one may have loaded a version.
    if (rule == completion_rule::ended && shape_of(m).lanes() == 1 && instance.depth == 1) {
      const auto staged = m.arrival + staged_alone{m, times[i], fastest, instance.prefetch}.run();
      b.staged_chain = std::max(b.staged_chain.value_or(staged), staged);
    }
  }
  return b;
}

}  // namespace hydra
