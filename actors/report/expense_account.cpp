#include "actors/report/expense_account.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace hydra {

namespace {

using weights = std::vector<double>;

double sum_of(std::span<const double> all) { return std::accumulate(all.begin(), all.end(), 0.0); }

/// Of one device, or of the host.
struct taken {
  duration paid{};
  std::optional<double> joules{};
};

taken taken_by(const expense_terms& terms, duration paid, duration busy,
               const std::optional<energy_reading>& measured) {
  taken t{.paid = paid};
  if (measured) {
    t.joules = measured->joules;
  } else if (terms.watts) {
    const auto worked = std::min(busy, paid);
    t.joules = seconds(worked) * terms.watts->busy + seconds(paid - worked) * terms.watts->idle;
  }
  return t;
}

taken taken_by_device(const run_work& w, std::size_t i, const expense_terms& terms) {
  if (i >= w.devices.size()) {
    return {};
  }
  const auto& d = w.devices[i];
  const auto paid = terms.billed == billing::used ? std::min(d.used, w.makespan) : w.makespan;
  return taken_by(terms, paid, std::accumulate(d.computed.begin(), d.computed.end(), duration{}), d.measured);
}

taken taken_by_host(const run_work& w, const expense_terms& terms) {
  return taken_by(terms, w.makespan, w.makespan, w.host);
}

expense expense_of(const taken& t, const expense_terms& terms) {
  expense e;
  if (terms.price) {
    e.cost = money{std::llround(seconds(t.paid) / seconds_per_hour * *terms.price * 1e4)};
  }
  if (t.joules) {
    e.joules = std::llround(*t.joules);
  }
  return e;
}

/// On one device; seconds.
weights computed_on(const run_work& w, std::size_t device, std::size_t models) {
  weights all(models);
  if (device < w.devices.size()) {
    std::ranges::transform(w.devices[device].computed, all.begin(), [](duration d) { return seconds(d); });
  }
  return all;
}

weights computed_on_all(const run_work& w, std::size_t models) {
  weights all(models);
  for (std::size_t i = 0; i < w.devices.size(); ++i) {
    std::ranges::transform(all, computed_on(w, i, models), all.begin(), std::plus{});
  }
  return all;
}

weights difference(weights now, const weights& before) {
  std::ranges::transform(now, before, now.begin(), std::minus{});
  return now;
}

/// Of the models that have not ended; equal ones if these have computed nothing.
weights of_those_there(const run_work& w) {
  auto all = computed_on_all(w, w.models);
  const auto is_there = [&w](std::size_t m) { return m >= w.ended.size() || !w.ended[m]; };
  weights there(w.models), computed(w.models);
  for (std::size_t m = 0; m < w.models; ++m) {
    there[m] = is_there(m) ? 1 : 0;
    computed[m] = is_there(m) ? all[m] : 0;
  }
  return sum_of(computed) > 0 ? computed : sum_of(there) > 0 ? there : all;
}

}  // namespace

/// In proportion to `by`, equal shares if that is all 0.
void expense_account::shares::add(double amount, const weights& by, bool has_owner) {
  const double all = sum_of(by);
  of_models.resize(by.size());
  of_none += has_owner ? 0 : amount;
  for (std::size_t m = 0; m < by.size() && has_owner; ++m) {
    of_models[m] += amount * (all > 0 ? by[m] / all : 1 / static_cast<double>(by.size()));
  }
}

weights expense_account::shares::all() const {
  auto with_none = of_models;
  with_none.push_back(of_none);
  return with_none;
}

void expense_account::divide_until(const run_work& work) {
  const auto on_all = difference(computed_on_all(work, work.models), computed_on_all(closed_, work.models));
  const bool waits = sum_of(on_all) <= 0;
  const bool has_owner = !waits || belongs_ == waiting::of_models;
  const auto idle = waits ? of_those_there(work) : on_all;
  const auto add = [has_owner](both_shares& to, const taken& now, const taken& before, const weights& by) {
    to.time.add(seconds(std::max(now.paid - before.paid, duration{})), by, has_owner);
    to.joules.add(std::max(now.joules.value_or(0) - before.joules.value_or(0), 0.0), by, has_owner);
  };
  devices_.resize(work.devices.size());
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    const auto terms = terms_.of(i);
    const auto here = difference(computed_on(work, i, work.models), computed_on(closed_, i, work.models));
    add(devices_[i], taken_by_device(work, i, terms), taken_by_device(closed_, i, terms),
        sum_of(here) > 0 ? here : idle);
  }
  add(host_, taken_by_host(work, terms_.host), taken_by_host(closed_, terms_.host), idle);
}

void expense_account::close_period(const run_work& so_far) {
  const auto computed = [&so_far](const run_work& w) { return sum_of(computed_on_all(w, so_far.models)); };
  if (computed(so_far) <= computed(closed_) && belongs_ == waiting::of_models) {
    return;
  }
  auto now = so_far;
  now.makespan = std::max(now.makespan, closed_.makespan);  // a model begins with its first unit, which is known later
  divide_until(now);
  closed_ = std::move(now);
}

run_expenses expense_account::so_far(const run_work& work) const {
  auto divided = *this;
  divided.divide_until(work);
  run_expenses r;
  r.models.resize(work.models);
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    const auto terms = terms_.of(i);
    const auto t = taken_by_device(work, i, terms);
    auto e = expense_of(t, terms);
    e.time = std::chrono::round<std::chrono::milliseconds>(t.paid);
    divide(e, divided.devices_[i].time.all(), divided.devices_[i].joules.all(), r.models);
    r.all = r.all + e;
    r.devices.push_back(e);
  }
  r.host = expense_of(taken_by_host(work, terms_.host), terms_.host);
  divide(r.host, divided.host_.time.all(), divided.host_.joules.all(), r.models);
  r.all = r.all + r.host;
  return r;
}

}  // namespace hydra
