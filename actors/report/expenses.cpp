#include "actors/report/expenses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

namespace hydra {

namespace {

using std::chrono::milliseconds;

duration sum_of(std::span<const duration> all) { return std::accumulate(all.begin(), all.end(), duration{}); }

/// `paid`, during which it was `busy`.
expense expense_of(const expense_terms& terms, duration paid, duration busy,
                   const std::optional<energy_reading>& measured) {
  expense e;
  if (terms.price) {
    e.cost = money{std::llround(seconds(paid) / seconds_per_hour * *terms.price * 1e4)};
  }
  if (measured) {
    e.joules = std::llround(measured->joules);
  } else if (terms.watts) {
    const auto worked = std::min(busy, paid);
    e.joules = std::llround(seconds(worked) * terms.watts->busy + seconds(paid - worked) * terms.watts->idle);
  }
  return e;
}

/// Adds its shares to `models`.
void divide(const expense& e, std::span<const duration> weights, std::span<expense> models) {
  const auto time = apportioned(std::chrono::duration_cast<milliseconds>(e.time).count(), weights);
  const auto cost = apportioned(e.cost ? e.cost->ten_thousandths : 0, weights);
  const auto joules = apportioned(e.joules.value_or(0), weights);
  for (std::size_t m = 0; m < models.size(); ++m) {
    models[m] = models[m] + expense{.time = milliseconds{time[m]},
                                    .cost = e.cost ? std::optional(money{cost[m]}) : std::nullopt,
                                    .joules = e.joules ? std::optional(joules[m]) : std::nullopt};
  }
}

}  // namespace

/// By the rounded sums of the shares so far, so that no sum has to be corrected.
std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const duration> weights) {
  const auto all = seconds(sum_of(weights));
  std::vector<std::int64_t> shares;
  std::int64_t given = 0;
  duration so_far{};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    so_far += weights[i];
    const auto share =
        all > 0 ? seconds(so_far) / all : static_cast<double>(i + 1) / static_cast<double>(weights.size());
    const auto until = i + 1 == weights.size() ? total : std::llround(static_cast<double>(total) * share);
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

run_expenses expenses_of(const run_work& work, const run_terms& terms) {
  run_expenses r;
  r.models.resize(work.models);
  std::vector<duration> on_all(work.models);
  std::vector<std::vector<duration>> on_each;
  for (const auto& d : work.devices) {
    auto& here = on_each.emplace_back(d.computed);
    here.resize(work.models);
    std::ranges::transform(on_all, here, on_all.begin(), std::plus{});
  }
  for (std::size_t i = 0; i < work.devices.size(); ++i) {
    const auto& d = work.devices[i];
    const auto its = terms.of(i);
    const auto busy = sum_of(on_each[i]);
    const auto paid = its.billed == billing::used ? std::min(d.used, work.makespan) : work.makespan;
    auto e = expense_of(its, paid, busy, d.measured);
    e.time = std::chrono::round<milliseconds>(paid);
    divide(e, busy > duration{} ? on_each[i] : on_all, r.models);
    r.all = r.all + e;
    r.devices.push_back(e);
  }
  r.host = expense_of(terms.host, work.makespan, work.makespan, work.host);
  divide(r.host, on_all, r.models);
  r.all = r.all + r.host;
  return r;
}

std::string to_string(money m) { return fmt::format("{}.{:04}", m.ten_thousandths / 10000, m.ten_thousandths % 10000); }

std::string clock_text(duration time) {
  const auto ms = std::chrono::round<milliseconds>(time).count();
  return fmt::format("{}:{:02}:{:02}.{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

double carbon_of(std::int64_t joules, double grams_per_kwh) {
  return static_cast<double>(joules) / 3.6e6 * grams_per_kwh;
}

}  // namespace hydra
