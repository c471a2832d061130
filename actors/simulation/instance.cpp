#include "actors/simulation/instance.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>

namespace hydra {

namespace {

constexpr std::uint32_t most_slots = 1U << 20;
constexpr std::uint32_t most_workers = 1U << 16;
constexpr std::uint32_t most_lanes = 1U << 12;
constexpr double most_amount = 1e9;
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

/// A slot holds the base alone, so the rest of the shard must be the smaller part.
void check_base(const instance_model& m, const std::string& at) {
  if (m.base_h2d.empty() && m.base.empty()) {
    return;
  }
  if (m.base_h2d.empty()) {
    refuse(at + "base", "is named, but \"base_h2d\" has no times");
  }
  check_times(m, at + "base_h2d", m.base_h2d);
  for (std::size_t s = 0; s < m.base_h2d.size(); ++s) {
    if (m.base_h2d[s] > duration::zero() && m.base_h2d[s] <= m.h2d[s]) {
      refuse(fmt::format("{}base_h2d[{}]", at, s),
             fmt::format("{} us is given, expected 0 or more than h2d[{}], {} us", m.base_h2d[s].count() / 1000, s,
                         m.h2d[s].count() / 1000));
    }
  }
}

void check_model(const instance_model& m, const std::string& at) {
  if (m.forward.empty()) {
    refuse(at + "forward", "is empty, a time for each shard is expected");
  }
  if (m.steps == 0) {
    refuse(at + "steps", "0 is given, at least 1 is expected");
  }
  if (m.first_trained >= m.forward.size()) {
    refuse(at + "first_trained",
           fmt::format("{} is given, a shard below {} is expected", m.first_trained, m.forward.size()));
  }
  check_lanes(at + "replicas", m.replicas);
  check_lanes(at + "waves", m.waves);
  check_times(m, at + "forward", m.forward);
  check_times(m, at + "backward", m.backward);
  check_times(m, at + "h2d", m.h2d);
  check_base(m, at);
  check_times(m, at + "d2h_gradient", m.d2h_gradient);
  check_times(m, at + "optimizer", m.optimizer);
  check_time(at + "activation", m.activation);
  check_time(at + "arrival", m.arrival);
  check_time(at + "deadline", m.deadline.value_or(duration::zero()));
  check_number(at + "remaining_scale", m.remaining_scale, m.remaining_scale > 0, "a number above 0");
  check_number(at + "priority", m.priority, m.priority > 0, "a number above 0");
}

void check_amount(const std::string& key, double x) {
  check_number(key, x, x >= 0 && x <= most_amount,
               fmt::format("a number of at least 0 and at most {:.0e}", most_amount));
}

void check_terms(const std::string& at, const expense_terms& t) {
  check_amount(at + "price", t.price.value_or(0));
  const auto watts = t.watts.value_or(power_draw{});
  check_amount(at + "watts.busy", watts.busy);
  check_amount(at + "watts.idle", watts.idle);
  check_number(at + "watts.idle", watts.idle, watts.idle <= watts.busy,
               fmt::format("at most {}, which is busy", watts.busy));
  if (t.billed != billing::run && !t.price && !t.watts) {
    refuse(at + "billing", "is given for a device that has neither price nor watts");
  }
}

/// Which devices are free, or draw nothing, has to be said.
template <class Member>
void check_all_have(const std::vector<instance_device>& devices, const char* key, Member member) {
  const auto has = [&](const instance_device& d) { return (d.terms.*member).has_value(); };
  const auto without = std::ranges::find_if_not(devices, has);
  if (without != devices.end() && std::ranges::any_of(devices, has)) {
    refuse(fmt::format("devices[{}].{}", without - devices.begin(), key), "is missing, but other devices have it");
  }
}

void check_machine(const schedule_instance& instance) {
  if (instance.devices.empty()) {
    refuse("devices", "is empty, at least one device is expected");
  }
  for (std::size_t d = 0; d < instance.devices.size(); ++d) {
    const auto& [speed, fails, terms] = instance.devices[d];
    const auto at = fmt::format("devices[{}].", d);
    check_number(at + "speed", speed, speed > 0 && speed <= 1, "a number above 0 and at most 1");
    check_time(at + "fails", fails.value_or(duration::zero()));
    check_terms(at, terms);
  }
  check_all_have(instance.devices, "price", &expense_terms::price);
  check_all_have(instance.devices, "watts", &expense_terms::watts);
  const auto least_slots = instance.prefetch ? 2U : 1U;
  if (instance.slots < least_slots || instance.slots > most_slots) {
    refuse("slots", fmt::format("{} are given, {} to {} are expected{}", instance.slots, least_slots, most_slots,
                                instance.prefetch ? " where units are prefetched" : ""));
  }
  const auto deepest = instance.prefetch ? instance.slots - 1 : 1;
  if (instance.depth == 0 || instance.depth > deepest) {
    refuse("depth", fmt::format("{} units are staged at once, 1 to {} are expected{}", instance.depth, deepest,
                                instance.prefetch ? ", fewer than slots" : " where none is prefetched"));
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
  const auto copies = (sum(m.h2d) + sum(m.base_h2d)) * 3 + sum(m.d2h_gradient) * 2 +
                      seconds(m.activation) * 4 * static_cast<double>(m.forward.size());
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

std::string place_of(const schedule_instance& instance, std::size_t i) {
  const auto& name = instance.models[i].name;
  return fmt::format("models[{}]{}.", i, name.empty() ? "" : " (" + name + ")");
}

void check_same_bases(const schedule_instance& instance) {
  const auto owners = base_owners(instance);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (instance.models[i].base_h2d != instance.models[owners[i].value].base_h2d) {
      refuse(place_of(instance, i) + "base_h2d",
             fmt::format("differs from models[{}], which names the same base", owners[i].value));
    }
  }
}

}  // namespace

duration base_copy(const instance_model& m, std::size_t shard) {
  return m.base_h2d.empty() ? duration::zero() : m.base_h2d[shard];
}

std::vector<model_id> base_owners(const schedule_instance& instance) {
  std::vector<model_id> owners;
  std::map<std::string, model_id> known;
  for (std::uint32_t i = 0; i < instance.models.size(); ++i) {
    const auto& base = instance.models[i].base;
    owners.push_back(base.empty() ? model_id{i} : known.try_emplace(base, model_id{i}).first->second);
  }
  return owners;
}

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
    check_model(instance.models[i], place_of(instance, i));
  }
  check_same_bases(instance);
  check_length(instance);
}

}  // namespace hydra
