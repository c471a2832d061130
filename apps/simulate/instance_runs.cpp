#include "apps/simulate/instance_runs.hpp"

#include "actors/simulation/optimum.hpp"
#include "actors/simulation/simulated_instance.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

[[noreturn]] void refuse_option(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

/// Completion times are shown only then.
bool has_schedule_terms(const schedule_instance& i) {
  return std::ranges::any_of(
      i.models, [](const instance_model& m) { return m.arrival > duration::zero() || m.priority != 1 || m.deadline; });
}

policy_row simulated_row(const schedule_instance& instance, const listed_policy& p, const driver_options& options) {
  const auto best = p.is_optimum() ? std::optional(find_optimum(instance)) : std::nullopt;
  const simulated_run run = simulate(instance, best ? replay(best->decisions) : p.make(options.seed), options);
  auto row = row_of(p.name, run);
  if (best && (run.makespan != best->makespan || !run.replacements.empty()))
    throw fault_error{fault_code::internal, "the schedule of " + instance.name + " that was found takes another time"};
  if (best) row.proven = best->proven;
  row.spent = expense_of(instance, run);
  if (has_schedule_terms(instance)) row.completions = completions_of(instance, run);
  return row;
}

std::string heading_of(const schedule_instance& i, const driver_options& options) {
  return fmt::format("{}: {}, {}, {}; simulated by {}", i.name, counted(i.models.size(), "model"),
                     counted(i.devices.size(), "device"), counted(count_units(i), "unit"), describe(options));
}

}  // namespace

simulation_driver parse_driver(std::string_view text) {
  if (text == "actors") return simulation_driver::actors;
  if (text == "loop") return simulation_driver::loop;
  refuse_option(fmt::format("--driver: \"{}\" is given, expected \"actors\" or \"loop\"", text));
}

completion_rule parse_completion(std::string_view text) {
  if (text == "ended") return completion_rule::ended;
  if (text == "landed") return completion_rule::written_back;
  refuse_option(fmt::format("--completion: \"{}\" is given, expected \"ended\" or \"landed\"", text));
}

void check(const driver_options& options) {
  if (options.driver == simulation_driver::actors && options.completion == completion_rule::ended)
    refuse_option("--completion ended needs --driver loop: for the actors a unit is complete when its outputs are "
                  "written back");
}

std::string describe(const driver_options& options) {
  if (options.driver == simulation_driver::actors) return "the actors of a run";
  const bool written_back = options.rule() == completion_rule::written_back;
  return fmt::format("the loop, units are complete when {}",
                     written_back ? "their outputs are written back" : "they have ended");
}

simulated_run simulate(const schedule_instance& instance, std::unique_ptr<policy> chosen,
                       const driver_options& options) {
  if (options.driver == simulation_driver::actors) return run_with_actors(instance, std::move(chosen));
  return run_in_loop(instance, std::move(chosen), {.completion = options.rule()});
}

void check_optimum(const std::vector<listed_policy>& policies, const driver_options& options) {
  if (options.rule() != completion_rule::ended && std::ranges::any_of(policies, &listed_policy::is_optimum))
    refuse_option("exact is searched where units are complete when they have ended: by the loop (--driver loop), "
                  "without completion \"landed\"");
}

comparison compare(const schedule_instance& instance, const std::vector<listed_policy>& policies,
                   const driver_options& options, duration yardstick) {
  check_optimum(policies, options);
  comparison c{.name = instance.name,
               .heading = heading_of(instance, options),
               .limits = bounds_of(instance, options.rule()).all(),
               .rows = {},
               .yardstick = yardstick};
  for (const listed_policy& p : policies) c.rows.push_back(simulated_row(instance, p, options));
  return c;
}

}  // namespace hydra::apps
