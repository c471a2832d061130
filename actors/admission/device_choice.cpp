#include "actors/admission/device_choice.hpp"

#include "actors/admission/comparisons.hpp"
#include "actors/admission/parallel_choices.hpp"
#include "actors/report/expense_table.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>

namespace hydra {

namespace {

/// A minute for a workload of a dozen models.
constexpr std::size_t most_choices = 64;

/// The memory of a GPU is what was free of it.
bool as_large(byte_count a, byte_count b) {
  constexpr std::uint64_t part = 50;
  return std::max(a, b) - std::min(a, b) <= byte_count{std::max(a, b).value() / part};
}

bool alike(const device_info& a, const device_info& b) {
  const auto rest = [](const device_info& d) { return std::tie(d.kind, d.model, d.speed, d.link, d.latency); };
  return rest(a) == rest(b) && as_large(a.usable(), b.usable());
}

bool cost_the_same(const expense_terms& a, const expense_terms& b) {
  const auto watts = [](const expense_terms& t) {
    const auto w = t.watts.value_or(power_draw{});
    return std::tuple(t.watts.has_value(), w.busy, w.idle);
  };
  return a.price == b.price && a.billed == b.billed && watts(a) == watts(b);
}

std::string name_of(std::span<const std::size_t> members, std::span<const device_info> devices) {
  const auto first = members.front(), last = members.back();
  if (members.size() > 2 && last - first == members.size() - 1) {
    return fmt::format("{} to {}", devices[first].name, devices[last].name);
  }
  std::vector<std::string> names;
  std::ranges::transform(members, std::back_inserter(names), [&](std::size_t i) { return devices[i].name; });
  return fmt::format("{}", fmt::join(names, " and "));
}

/// Of each class 0, then as many as follow from the number before, and all.
using next_count = std::size_t (*)(std::size_t);

std::vector<std::size_t> counts_of(const device_class& c, next_count next) {
  std::vector<std::size_t> counts{0};
  for (std::size_t n = 1; n < c.members.size(); n = next(n)) {
    counts.push_back(n);
  }
  counts.push_back(c.members.size());
  return counts;
}

std::vector<std::vector<std::size_t>> all_counts(std::span<const device_class> classes, next_count next) {
  std::vector<std::vector<std::size_t>> all{{}};
  for (const auto& c : classes) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& begun : all) {
      for (const auto n : counts_of(c, next)) {
        longer.push_back(begun);
        longer.back().push_back(n);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [](const auto& counts) { return std::ranges::count(counts, 0) == std::ssize(counts); });
  const auto devices = [](const auto& counts) { return std::accumulate(counts.begin(), counts.end(), std::size_t{0}); };
  std::ranges::stable_sort(all, std::greater{}, devices);
  return all;
}

template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::span<const std::size_t> places) {
  std::vector<T> some;
  for (const auto i : places) {
    some.push_back(i < all.size() ? all[i] : T{});
  }
  return some;
}

/// The fastest of the ways that the models leave open.
forecast predicted(const planned_run& run, std::span<const model_description> given) {
  return fastest(compare_parallel(run, open_choices(given, run.devices.size()))).expected;
}

device_choice choice_of(std::vector<std::size_t> counts, const planned_run& whole,
                        std::span<const model_description> given, std::span<const device_class> classes,
                        const run_terms& terms) {
  device_choice c{.counts = std::move(counts)};
  const auto members = members_of(c, classes);
  auto here = terms;
  here.devices = some_of(terms.devices, members);
  auto run = whole;
  run.devices = some_of(whole.devices, members);
  run.planned.machines = some_of(whole.planned.machines, members);
  try {
    if (members.size() < whole.devices.size()) {
      run.planned = plan_again(run.planned, run.from);
    }
    c.expected = predicted(run, given);
    c.expected->spent = expenses_of(c.expected->work, here);
    c.least = least_expense(c.expected->limits, run.devices, here);
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::does_not_fit) {
      throw;
    }
    c.refused = e.what_happened().text;
  }
  return c;
}

/// Whether it is refused, whether it is too late, what counts first, the makespan.
std::tuple<bool, bool, std::int64_t, duration> rank_of(const device_choice& c, const run_goal& goal) {
  if (!c.expected) {
    return {true, true, 0, {}};
  }
  const auto& all = c.expected->spent.all;
  const auto amount = goal.least == run_objective::cost     ? all.cost.value_or(money{}).ten_thousandths
                      : goal.least == run_objective::energy ? all.joules.value_or(0)
                                                            : 0;
  return {false, !is_in_time(c, goal), amount, c.expected->makespan};
}

/// An amount for each hour of the run, and one for each hour of work at speed 1.
struct rates {
  double of_run = 0;
  double of_work = std::numeric_limits<double>::infinity();
  bool known = false;

  void add(bool whole_run, double always, double idle, double speed) {
    of_run += whole_run ? idle : 0;
    of_work = std::min(of_work, (always - (whole_run ? idle : 0)) / speed);
  }
  double least(duration makespan, duration work) const {
    return seconds(makespan) * of_run + seconds(work) * (std::isfinite(of_work) ? of_work : 0);
  }
};

std::string goal_text(const run_goal& goal) {
  const auto* least = goal.least == run_objective::cost     ? "least cost"
                      : goal.least == run_objective::energy ? "least energy"
                                                            : "shortest makespan";
  return std::string{least} + (goal.deadline ? " within " + to_string(*goal.deadline) : "");
}

std::string too_late(const device_choices& choices, const run_goal& goal) {
  const auto best = best_choice(choices.all, {});
  if (!best || !goal.deadline) {
    return choices.all.front().refused;
  }
  const auto& fastest = choices.all[*best];
  return fmt::format(
      "run.deadline: {} cannot be met: the fastest of these devices ({}) are expected to take {}; no schedule on them "
      "takes less than {}. Give the run more time, faster devices, or fewer steps",
      to_string(*goal.deadline), to_text(fastest, choices.classes), to_string(fastest.expected->makespan),
      to_string(fastest.expected->limits.best()));
}

}  // namespace

std::vector<device_class> classes_of(std::span<const device_info> devices, const run_terms& terms) {
  std::vector<device_class> classes;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto same = [&](const device_class& c) {
      const auto first = c.members.front();
      return alike(devices[first], devices[i]) && cost_the_same(terms.of(first), terms.of(i));
    };
    const auto found = std::ranges::find_if(classes, same);
    (found == classes.end() ? classes.emplace_back() : *found).members.push_back(i);
  }
  for (auto& c : classes) {
    c.name = name_of(c.members, devices);
  }
  return classes;
}

std::vector<std::size_t> members_of(const device_choice& c, std::span<const device_class> classes) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto& members = classes[i].members;
    all.insert(all.end(), members.begin(), members.begin() + static_cast<std::ptrdiff_t>(c.counts[i]));
  }
  std::ranges::sort(all);
  return all;
}

device_choices compare_devices(const planned_run& run, std::span<const model_description> given,
                               const run_terms& terms) {
  device_choices choices;
  choices.classes = classes_of(run.planned.machines, terms);
  auto counts = all_counts(choices.classes, [](std::size_t n) { return n + 1; });
  const auto every = counts.size();
  if (every > most_choices) {
    counts = all_counts(choices.classes, [](std::size_t n) { return 2 * n; });
  }
  const bool fits_host = run.planned.plan.waiting.empty();  // else planning again admits all models, or none
  counts.resize(std::min(counts.size(), fits_host ? most_choices : 1));
  choices.complete = counts.size() == every;
  for (auto& each : counts) {
    run.from.require_uninterrupted();
    choices.all.push_back(choice_of(std::move(each), run, given, choices.classes, terms));
  }
  return choices;
}

bool is_in_time(const device_choice& c, const run_goal& goal) {
  return c.expected && (!goal.deadline || c.expected->makespan <= *goal.deadline);
}

std::vector<std::size_t> best_first(std::span<const device_choice> all, const run_goal& goal) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rank_of(all[i], goal); });
  return order;
}

std::optional<std::size_t> best_choice(std::span<const device_choice> all, const run_goal& goal) {
  const auto best = best_first(all, goal).front();
  return is_in_time(all[best], goal) ? std::optional(best) : std::nullopt;
}

std::string to_text(const device_choice& c, std::span<const device_class> classes) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (c.counts[i] > 0) {
      parts.push_back(c.counts[i] == classes[i].members.size() ? classes[i].name
                                                               : fmt::format("{} of {}", c.counts[i], classes[i].name));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

goal_not_met::goal_not_met(const device_choices& choices, const run_goal& goal)
    : fault_error(fault_code::does_not_fit, too_late(choices, goal)), compared(choices) {}

std::string choice_note(const device_choices& choices, std::size_t chosen, const run_goal& goal,
                        const run_terms& terms) {
  const auto& c = choices.all[chosen];
  const auto spent = expense_line(c.expected->spent.all, terms);
  return fmt::format("{}: the run uses {} and is expected to take {}{}{}", goal_text(goal), to_text(c, choices.classes),
                     to_string(c.expected->makespan), spent.empty() ? "" : ", ", spent);
}

expense least_expense(const bounds& limits, std::span<const device_info> devices, const run_terms& terms) {
  rates cost, power;
  double speed = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto its = terms.of(i);
    const bool whole_run = its.billed == billing::run;
    const auto price = its.price.value_or(0);
    const auto watts = its.watts.value_or(power_draw{});
    speed += devices[i].speed;
    cost.add(whole_run, price, price, devices[i].speed);
    power.add(whole_run, watts.busy, watts.idle, devices[i].speed);
    cost.known = cost.known || its.price;
    power.known = power.known || its.watts;
  }
  cost.of_run += terms.host.price.value_or(0);
  power.of_run += terms.host.watts.value_or(power_draw{}).idle;
  const auto work = from_seconds(seconds(limits.work) * speed);
  const auto whole = [&](double amount) {  // each device's, and the host's, may have been rounded down
    return std::max<std::int64_t>(std::llround(std::floor(amount - 0.5 * static_cast<double>(devices.size() + 1))), 0);
  };
  expense e;
  if (cost.known || terms.host.price) {
    e.cost = money{whole(cost.least(limits.best(), work) / seconds_per_hour * 1e4)};
  }
  if (power.known || terms.host.watts) {
    e.joules = whole(power.least(limits.best(), work));
  }
  return e;
}

}  // namespace hydra
