#include "actors/simulation/instance.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace hydra {

namespace {

constexpr std::uint32_t most_slots = 1U << 20;
constexpr std::uint32_t most_workers = 1U << 16;
constexpr std::uint32_t most_lanes = 1U << 12;
constexpr double longest_run_s = 1e8;  // three years: sums of nanoseconds stay far from their limit

[[noreturn]] void refuse(const std::string& key, const std::string& what) {
  throw fault_error(fault_code::bad_input, key + ": " + what);
}

void check_time(const std::string& key, duration t) {
  if (t < duration::zero()) {
    refuse(key, fmt::format("{} us is negative, a time of at least 0 is expected", t.count() / 1000));
  }
}

void check_times(const instance_model& m, const std::string& key, const std::vector<duration>& times) {
  if (times.size() != m.forward.size()) {
    refuse(key, fmt::format("{} times are given for {} shards (as many as \"forward\" has)", times.size(),
                            m.forward.size()));
  }
  for (std::size_t s = 0; s < times.size(); ++s) {
    check_time(fmt::format("{}[{}]", key, s), times[s]);
  }
}

void check_number(const std::string& key, double x, bool holds, std::string_view expected) {
  if (!std::isfinite(x) || !holds) {
    refuse(key, fmt::format("{} is given, expected {}", x, expected));
  }
}

void check_lanes(const std::string& key, std::uint32_t n) {
  if (n == 0 || n > most_lanes) {
    refuse(key, fmt::format("{} are given, 1 to {} are expected", n, most_lanes));
  }
}

void check_model(const instance_model& m, const std::string& at) {
  if (m.forward.empty()) {
    refuse(at + "forward", "is empty, a time for each shard is expected");
  }
  if (m.steps == 0) {
    refuse(at + "steps", "0 is given, at least 1 is expected");
  }
  check_lanes(at + "replicas", m.replicas);
  check_lanes(at + "waves", m.waves);
  check_times(m, at + "forward", m.forward);
  check_times(m, at + "backward", m.backward);
  check_times(m, at + "h2d", m.h2d);
  check_times(m, at + "d2h_gradient", m.d2h_gradient);
  check_times(m, at + "optimizer", m.optimizer);
  check_time(at + "activation", m.activation);
  check_time(at + "arrival", m.arrival);
  check_time(at + "deadline", m.deadline.value_or(duration::zero()));
  check_number(at + "remaining_scale", m.remaining_scale, m.remaining_scale > 0, "a number above 0");
  check_number(at + "priority", m.priority, m.priority > 0, "a number above 0");
}

void check_machine(const schedule_instance& instance) {
  if (instance.devices.empty()) {
    refuse("devices", "is empty, at least one device is expected");
  }
  for (std::size_t d = 0; d < instance.devices.size(); ++d) {
    const auto& [speed, fails] = instance.devices[d];
    check_number(fmt::format("devices[{}].speed", d), speed, speed > 0 && speed <= 1, "a number above 0 and at most 1");
    check_time(fmt::format("devices[{}].fails", d), fails.value_or(duration::zero()));
  }
  const auto least_slots = instance.prefetch ? 2U : 1U;
  if (instance.slots < least_slots || instance.slots > most_slots) {
    refuse("slots", fmt::format("{} are given, {} to {} are expected{}", instance.slots, least_slots, most_slots,
                                instance.prefetch ? " where units are prefetched" : ""));
  }
  if (instance.host_workers == 0 || instance.host_workers > most_workers) {
    refuse("host_workers", fmt::format("{} are given, 1 to {} are expected", instance.host_workers, most_workers));
  }
  check_number("noise", instance.noise, instance.noise >= 0 && instance.noise < 1,
               "a number of at least 0 and below 1");
}

double sum(const std::vector<duration>& times) {
  double total = 0;
  for (const auto t : times) {
    total += seconds(t);
  }
  return total;
}

/// All times of a model one after the other, on the slowest device.
double longest_seconds(const instance_model& m, double slowest) {
  const auto copies =
      sum(m.h2d) * 3 + sum(m.d2h_gradient) * 2 + seconds(m.activation) * 4 * static_cast<double>(m.forward.size());
  const auto lane = (sum(m.forward) + sum(m.backward)) / slowest + copies;
  return m.steps * (lane * shape_of(m).lanes() + sum(m.optimizer)) + seconds(m.arrival);
}

void check_length(const schedule_instance& instance) {
  double slowest = 1;
  for (const auto& d : instance.devices) {
    slowest = std::min(slowest, d.speed);
  }
  double total = 0;
  for (const auto& m : instance.models) {
    total += longest_seconds(m, slowest);
  }
  if (total > longest_run_s) {
    refuse("models",
           fmt::format("their times add up to {:.3g} s, at most {:.0e} s can be simulated", total, longest_run_s));
  }
}

}  // namespace

step_shape shape_of(const instance_model& m) {
  return {.shards = static_cast<std::uint32_t>(m.forward.size()), .micro_batches = m.replicas * m.waves,
          .replicas = m.replicas, .waves = m.waves, .first_trained = m.first_trained};
}

std::uint64_t count_units(const schedule_instance& instance) {
  std::uint64_t units = 0;
  for (const auto& m : instance.models) {
    const auto lane = m.forward.empty() ? 0 : 2 * std::uint64_t{m.forward.size()} - 1 - m.first_trained;
    units += lane * m.steps * shape_of(m).lanes();
  }
  return units;
}

void validate(const schedule_instance& instance) {
  check_machine(instance);
  if (instance.models.empty()) {
    refuse("models", "is empty, at least one model is expected");
  }
  for (std::size_t i = 0; i < instance.models.size(); ++i) {
    const auto& name = instance.models[i].name;
    check_model(instance.models[i], fmt::format("models[{}]{}.", i, name.empty() ? "" : " (" + name + ")"));
  }
  check_length(instance);
}

}  // namespace hydra
