#pragma once
// What a run has taken in one or more of its parts, model by model.

#include "actors/protocol/expense.hpp"

#include <map>
#include <string>

namespace hydra {

/// What a sum lacks: there are parts of the run of which it is not known.
struct expense_gaps {
  bool cost = false;
  bool joules = false;
  bool operator==(const expense_gaps&) const = default;
};

struct shared_expense {
  expense all{};
  std::map<std::string, expense> models{};  ///< by name; they add up to `all`
  expense_gaps gaps{};

  expense of(const std::string& model) const {
    const auto found = models.find(model);
    return found == models.end() ? expense{} : found->second;
  }
};

/// Of two parts of a run.
inline expense_gaps gaps_between(const expense& a, const expense& b) {
  const bool both = a.time > duration{} && b.time > duration{};
  return {both && a.cost.has_value() != b.cost.has_value(), both && a.joules.has_value() != b.joules.has_value()};
}

/// Model by model.
inline shared_expense operator+(const shared_expense& a, const shared_expense& b) {
  auto sum = a;
  sum.all = a.all + b.all;
  for (const auto& [model, spent] : b.models) {
    sum.models[model] = a.of(model) + spent;
  }
  const auto between = gaps_between(a.all, b.all);
  sum.gaps = {a.gaps.cost || b.gaps.cost || between.cost, a.gaps.joules || b.gaps.joules || between.joules};
  return sum;
}

}  // namespace hydra
