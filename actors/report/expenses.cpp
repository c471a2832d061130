#include "actors/report/expenses.hpp"

#include "actors/report/expense_account.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>

namespace hydra {

using std::chrono::milliseconds;

run_expenses expenses_of(const run_work& work, const run_terms& terms) { return expense_account(terms).so_far(work); }

shared_expense by_name(const run_expenses& e, std::span<const std::string> names) {
  shared_expense s{.all = e.all};
  for (std::size_t m = 0; m < e.models.size(); ++m) {
    s.models[names[m]] = e.models[m];
  }
  return s;
}

/// By the rounded sums of the shares so far, so that no sum has to be corrected.
std::vector<std::int64_t> apportioned(std::int64_t total, std::span<const double> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::int64_t given = 0;
  double so_far = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    so_far += weights[i];
    const double share = all > 0 ? so_far / all : static_cast<double>(i + 1) / static_cast<double>(weights.size());
    const auto until = i + 1 == weights.size() ? total : std::llround(static_cast<double>(total) * share);
    shares.push_back(until - given);
    given = until;
  }
  return shares;
}

void divide(const expense& e, std::span<const double> time, std::span<const double> joules,
            std::span<expense> models) {
  const auto times = apportioned(std::chrono::duration_cast<milliseconds>(e.time).count(), time);
  const auto costs = apportioned(e.cost ? e.cost->ten_thousandths : 0, time);
  const auto energies = apportioned(e.joules.value_or(0), joules);
  for (std::size_t m = 0; m < models.size(); ++m) {
    models[m] = models[m] + expense{.time = milliseconds{times[m]},
                                    .cost = e.cost ? std::optional(money{costs[m]}) : std::nullopt,
                                    .joules = e.joules ? std::optional(energies[m]) : std::nullopt};
  }
}

std::string to_string(money m) { return fmt::format("{:.4f}", amount_of(m)); }

std::string clock_text(duration time) {
  const auto ms = std::chrono::round<milliseconds>(time).count();
  return fmt::format("{}:{:02}:{:02}.{:03}", ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

double carbon_of(std::int64_t joules, double grams_per_kwh) {
  return static_cast<double>(joules) / 3.6e6 * grams_per_kwh;
}

}  // namespace hydra
