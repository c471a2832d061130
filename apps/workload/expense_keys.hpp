#pragma once
// What devices and the host cost: price, watts and billing of [[device]], price and watts of [host], currency and
// grams_per_kwh of [run]; and what the devices are chosen for: objective and deadline of [run].

#include "actors/report/expense_terms.hpp"
#include "actors/report/run_goal.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <vector>

namespace hydra::apps {

std::vector<key_rule> device_expense_rules();
std::vector<key_rule> host_expense_rules();
std::vector<key_rule> run_expense_rules();

/// Of one checked [[device]].
expense_terms read_device_terms(const value_table& device);

/// Of the host and the run; `root`: of a checked file.
run_terms read_run_terms(const value_table& root);

/// Which devices the run is to use.
run_goal read_run_goal(const value_table& root);

/// Of a checked file. Throws fault_error{bad_input} for a device without a price, or without watts, beside one that has
/// them, or beside a host that has a price: it would count as one that costs nothing; for more watts when idle than
/// when busy; for billing without either; for a deadline of 0; and for an objective without what it needs.
void check_expenses(const value_table& root);

}  // namespace hydra::apps
