#include "actors/simulation/generator.hpp"

#include "actors/policy/policy.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "actors/simulation/remaining_scale.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/portable_random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

namespace hydra {

namespace {

constexpr double mean_half_us = 2000;  // of (forward + backward) / 2
constexpr double activation_us = 100;
constexpr double backward_per_forward = 3;  // including the recomputed forward
constexpr double work_per_length = 1200;    // forward times of a model of length 1
constexpr double us_per_hour = 3600e6;

duration whole_us(double us) { return std::chrono::microseconds{std::llround(us)}; }

// -- validation -------------------------------------------------------------------------------------------------------

void check(const char* key, double value, bool holds, std::string_view expected) {
  if (!std::isfinite(value) || !holds) {
    throw fault_error(fault_code::bad_input, fmt::format("{}: {} is given, expected {}", key, value, expected));
  }
}

void check(const char* key, double value, double least, double most) {
  check(key, value, value >= least && value <= most, fmt::format("{} to {}", least, most));
}

}  // namespace

void validate(const instance_recipe& r) {
  using limits = recipe_limits;
  const auto devices = static_cast<double>(r.speeds.size());
  check("models", r.models, 1, limits::models);
  check("devices", devices, 1, limits::devices);
  check("rho", r.rho, 0, limits::ratio);
  const bool may_freeze = r.frozen == 0 || (r.family == instance_family::equal && r.frozen > 0.5 && r.frozen <= 1);
  check("frozen", r.frozen, may_freeze, "0, or of family equal above 0.5 and at most 1");
  check("optimizer", r.optimizer, 0, limits::ratio);
  check("length", r.length, r.length > 0 && r.length <= limits::ratio, "above 0 and at most 1000");
  check("arrivals", r.arrivals, 0, limits::ratio);
  check("deadlines", r.deadlines, 0, limits::ratio);
  check("failures", r.failures, r.failures < devices, "fewer than there are devices");
  check("hours", r.hours, 0, limits::ratio);
  check("units", r.units, 0, limits::units);
  for (const auto speed : r.speeds) {
    check("speeds", speed, speed > 0 && speed <= 1, "numbers above 0 and at most 1");
  }
}

namespace {

// -- models -----------------------------------------------------------------------------------------------------------

/// A model before its times are scaled: forward times of the shards, and their sizes (1: the mean).
struct draft {
  double length = 1;
  std::vector<double> forward;
  std::vector<double> sizes;
};

draft draft_of(instance_family family, portable_random& random) {
  if (family == instance_family::equal) {
    return {1, std::vector<double>(6, 1.0), std::vector<double>(6, 1.0)};
  }
  const bool skewed = family == instance_family::skewed;
  draft d;
  const auto shards = random.whole(2, skewed ? 16 : 12);
  d.length = skewed ? random.log_uniform(0.1, 10) : random.uniform(0.5, 4);
  const double base = random.log_uniform(0.5, 2);
  for (std::uint32_t s = 0; s < shards; ++s) {
    d.sizes.push_back(random.uniform(0.7, 1.3));
    d.forward.push_back(base * d.sizes.back());
  }
  return d;
}

double sum(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

/// Microseconds of one forward time.
double scale_of(const std::vector<draft>& drafts) {
  double total = 0;
  std::size_t shards = 0;
  for (const auto& d : drafts) {
    total += sum(d.forward) * (1 + backward_per_forward) / 2;
    shards += d.forward.size();
  }
  return mean_half_us * static_cast<double>(shards) / total;
}

instance_model model_of(const draft& d, double us, const instance_recipe& r) {
  instance_model m;
  const auto steps = std::round(work_per_length * r.length * d.length / (sum(d.forward) * (1 + backward_per_forward)));
  m.steps = static_cast<std::uint32_t>(std::max(2.0, steps));
  for (std::size_t s = 0; s < d.forward.size(); ++s) {
    const double copy = mean_half_us * r.rho * d.sizes[s] * (1 - r.frozen);
    m.forward.push_back(whole_us(d.forward[s] * us));
    m.backward.push_back(whole_us(d.forward[s] * us * backward_per_forward));
    m.h2d.push_back(whole_us(copy));
    m.d2h_gradient.push_back(whole_us(copy));
    m.optimizer.push_back(whole_us(copy * r.optimizer));
  }
  if (r.frozen > 0) {
    for (const auto size : d.sizes) {
      m.base_h2d.push_back(whole_us(mean_half_us * r.rho * size * r.frozen));
    }
    m.base = r.share ? "shared" : "";
  }
  m.activation = r.rho > 0 ? whole_us(activation_us) : duration::zero();
  return m;
}

std::vector<instance_model> study_models(const instance_recipe& r, portable_random& random) {
  std::vector<draft> drafts;
  for (std::uint32_t i = 0; i < r.models; ++i) {
    drafts.push_back(draft_of(r.family, random));
  }
  std::vector<instance_model> models;
  for (const auto us = scale_of(drafts); const auto& d : drafts) {
    models.push_back(model_of(d, us, r));
  }
  return models;
}

instance_model paper_model(const instance_recipe& r, portable_random& random) {
  constexpr std::uint32_t shards = 10;
  constexpr std::uint32_t units_per_step = 2 * shards - 1;
  const double hours = r.hours > 0 ? r.hours : random.uniform(0.5, 4);
  const double units = r.units > 0 ? r.units : random.whole(100, 10000);
  instance_model m;
  m.steps = static_cast<std::uint32_t>(std::max(1.0, std::round(units / units_per_step)));
  m.forward.assign(shards, whole_us(hours * us_per_hour / m.steps / (2 * shards)));
  m.backward = m.forward;
  m.h2d.assign(shards, duration::zero());
  m.d2h_gradient = m.h2d;
  m.optimizer = m.h2d;
  return m;
}

std::vector<instance_model> models_of(const instance_recipe& r, portable_random& random) {
  if (r.family != instance_family::paper) {
    return study_models(r, random);
  }
  std::vector<instance_model> models;
  for (std::uint32_t i = 0; i < r.models; ++i) {
    models.push_back(paper_model(r, random));
  }
  return models;
}

// -- arrivals and failures --------------------------------------------------------------------------------------------

void add_arrivals(schedule_instance& instance, double within, portable_random& random) {
  for (auto& m : instance.models) {
    m.arrival = whole_us(random.uniform(0, within));
  }
}

/// Different devices, each with the same probability.
void add_failures(schedule_instance& instance, std::uint32_t failures, double within, portable_random& random) {
  std::vector<std::size_t> alive(instance.devices.size());
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  for (std::uint32_t i = 0; i < failures; ++i) {
    const auto at = alive.begin() + random.whole(0, static_cast<std::uint32_t>(alive.size()) - 1);
    instance.devices[*at].fails = whole_us(random.uniform(0, within));
    alive.erase(at);
  }
}

void add_events(schedule_instance& instance, const instance_recipe& r, portable_random& random) {
  if (r.arrivals <= 0 && r.failures == 0) {
    return;
  }
  const double work_us = seconds(bounds_of(instance).limits.work) * 1e6;
  if (r.arrivals > 0) {
    add_arrivals(instance, work_us * r.arrivals, random);
  }
  add_failures(instance, r.failures, work_us, random);
}

// -- names ------------------------------------------------------------------------------------------------------------

/// "4x1+4x0.5", in the order of the devices.
std::string to_string(const std::vector<double>& speeds) {
  std::vector<std::string> groups;
  for (auto from = speeds.begin(); from != speeds.end();) {
    const auto to = std::find_if(from, speeds.end(), [&](double v) { return v != *from; });
    groups.push_back(fmt::format("{}x{}", to - from, *from));
    from = to;
  }
  return fmt::format("{}", fmt::join(groups, "+"));
}

/// Collects "key=value" where the value is not the default.
class recipe_text {
 public:
  template <class T>
  recipe_text& add(const char* key, const T& value, const T& standard) {
    if (value != standard) {
      parts_.push_back(fmt::format("{}={}", key, value));
    }
    return *this;
  }
  std::string of(std::string_view family) const {
    return parts_.empty() ? std::string{family} : fmt::format("{}:{}", family, fmt::join(parts_, ","));
  }

 private:
  std::vector<std::string> parts_;
};

std::string devices_of(const instance_recipe& r) {
  const bool equal = std::ranges::all_of(r.speeds, [](double v) { return v == 1; });
  return equal ? "" : to_string(r.speeds);
}

}  // namespace

std::string to_string(const instance_recipe& r) {
  const instance_recipe standard;
  const auto speeds = devices_of(r);
  recipe_text text;
  text.add("models", r.models, standard.models)
      .add("devices", speeds.empty() ? r.speeds.size() : standard.speeds.size(), standard.speeds.size())
      .add("speeds", speeds, std::string{})
      .add("rho", r.rho, standard.rho)
      .add("frozen", r.frozen, standard.frozen)
      .add("share", r.share, standard.share)
      .add("optimizer", r.optimizer, standard.optimizer)
      .add("length", r.length, standard.length)
      .add("slots", r.slots, standard.slots)
      .add("prefetch", r.prefetch, standard.prefetch)
      .add("depth", r.depth, standard.depth)
      .add("copy_back_clean", r.copy_back_clean, standard.copy_back_clean)
      .add("host_workers", r.host_workers, standard.host_workers)
      .add("noise", r.noise, standard.noise)
      .add("arrivals", r.arrivals, standard.arrivals)
      .add("deadlines", r.deadlines, standard.deadlines)
      .add("failures", r.failures, standard.failures)
      .add("hours", r.hours, standard.hours)
      .add("units", r.units, standard.units)
      .add("seed", r.seed, standard.seed);
  return text.of(names_of_families[static_cast<std::size_t>(r.family)]);
}

namespace {

std::uint32_t depth_of(const instance_recipe& r) {
  return r.depth > 0 || !r.prefetch ? std::max(r.depth, 1U) : std::clamp(r.slots - 1, 1U, most_staged);
}

}  // namespace

namespace {

void set_deadlines(schedule_instance& instance, double times_alone) {
  const auto fastest = std::ranges::max(instance.devices, {}, &instance_device::speed).speed;
  for (auto& m : instance.models) {
    const auto step = std::accumulate(m.forward.begin(), m.forward.end(), duration::zero()) +
                      std::accumulate(m.backward.begin(), m.backward.end(), duration::zero());
    const auto alone = static_cast<double>(step.count()) * m.steps * m.remaining_scale / fastest / 1000;
    m.deadline = m.arrival + whole_us(times_alone * alone);
  }
}

}  // namespace

schedule_instance generate(const instance_recipe& recipe) {
  validate(recipe);
  portable_random random{recipe.seed};
  schedule_instance instance{
      .name = to_string(recipe), .note = "generated", .devices = {}, .models = models_of(recipe, random)};
  for (const auto speed : recipe.speeds) {
    instance.devices.push_back({.speed = speed});
  }
  for (std::size_t i = 0; i < instance.models.size(); ++i) {
    instance.models[i].name = fmt::format("m{:02}", i);
  }
  instance.slots = recipe.slots;
  instance.prefetch = recipe.prefetch;
  instance.depth = depth_of(recipe);
  instance.copy_back_clean = recipe.copy_back_clean;
  instance.host_workers = recipe.host_workers;
  instance.noise = recipe.noise;
  instance.seed = recipe.seed;
  validate(instance);
  add_events(instance, recipe, random);
  measure_scales(instance);
  if (recipe.deadlines > 0) {
    set_deadlines(instance, recipe.deadlines);
  }
  return instance;
}

}  // namespace hydra
