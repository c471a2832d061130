#include "actors/simulation/planned_instance.hpp"

#include "actors/simulation/remaining_scale.hpp"

#include <algorithm>
#include <iterator>

namespace hydra {

namespace {

constexpr std::uint32_t steps_seen = 8;

/// One lane.
instance_model model_of(const sharded_model& m, std::span<const device_info> devices) {
  instance_model given;
  given.name = m.name;
  given.steps = m.steps;
  given.first_trained = m.plan.first_trained;
  given.remaining_scale = m.remaining_scale;
  given.arrival = m.terms.arrival;
  given.priority = m.terms.priority;
  given.deadline = m.terms.deadline;
  const auto step = m.plan.shape();
  byte_count boundary;
  for (const auto& s : m.plan.shards) {
    const bool last = &s == &m.plan.shards.back();
    const auto visits = step.visits_of(static_cast<std::uint32_t>(given.forward.size()));
    given.forward.push_back(last ? duration{} : s.forward_time / visits);
    given.backward.push_back(s.backward_time / visits);
    const auto base = fastest_copy(s.base, devices);
    const auto rest = fastest_copy(s.parameters, devices);
    const bool stays_longer = s.is_mostly_frozen() && base > rest;
    given.h2d.push_back(stays_longer ? rest : fastest_copy(s.base + s.parameters, devices));
    given.base_h2d.push_back(stays_longer ? base : duration{});
    const bool stays = s.steps_on_device && &s == &m.plan.shards.front();  // its next visit follows on the device
    const bool trained = given.d2h_gradient.size() >= m.plan.first_trained;
    given.d2h_gradient.push_back(stays || !trained ? duration{} : fastest_copy(s.gradient_bytes(), devices));
    given.optimizer.push_back(s.steps_on_device ? duration{} : s.update_time);
    boundary = std::max(boundary, s.output * step.batches_of(static_cast<std::uint32_t>(given.forward.size()) - 1));
  }
  given.activation = fastest_copy(boundary, devices);
  return given;
}

std::uint32_t slots_of(std::span<const sharded_model_ptr> models, std::span<const device_info> devices) {
  byte_count largest{1};
  for (const auto& m : models) {
    for (const auto& s : m->plan.shards) {
      largest = std::max(largest, s.base + s.parameters);
    }
  }
  auto memory = devices.front().memory;
  for (const auto& d : devices) {
    memory = std::min(memory, d.usable());
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(memory.value() / largest.value(), 2, 1024));
}

}  // namespace

duration fastest_copy(byte_count n, std::span<const device_info> devices) {
  auto least = duration::max();
  for (const auto& d : devices) {
    least = std::min(least, d.latency + d.link.time_for(n));
  }
  return least;
}

schedule_instance planned_instance(std::span<const sharded_model_ptr> models, std::span<const device_info> devices) {
  schedule_instance instance;
  instance.name = "plan";
  for (const auto& d : devices) {
    instance.devices.push_back({.speed = d.speed});
  }
  for (const auto& m : models) {
    instance.models.push_back(model_of(*m, devices));
  }
  instance.slots = slots_of(models, devices);
  return instance;
}

std::vector<double> remaining_scales(std::span<const sharded_model_ptr> models, std::span<const device_info> devices) {
  auto instance = planned_instance(models, devices);
  for (auto& m : instance.models) {
    m.steps = std::clamp(m.steps, 1U, steps_seen);
  }
  measure_scales(instance);
  std::vector<double> scales;
  std::ranges::transform(instance.models, std::back_inserter(scales), &instance_model::remaining_scale);
  return scales;
}

}  // namespace hydra
