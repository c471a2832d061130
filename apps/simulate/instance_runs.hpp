#pragma once
// Instances run by either driver of the simulator.

#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/instance_bounds.hpp"
#include "apps/simulate/comparison.hpp"
#include "apps/simulate/policy_list.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

enum class simulation_driver : std::uint8_t {
  actors,  ///< the actors of a real run, in virtual time
  loop,    ///< the scheduler's state and the policy in a plain loop
};

struct driver_options {
  simulation_driver driver = simulation_driver::actors;
  std::optional<completion_rule> completion{};  ///< of the loop; default: ended
  std::uint64_t seed = 0;                       ///< of policies that choose by chance

  completion_rule rule() const {
    return driver == simulation_driver::actors ? completion_rule::written_back
                                               : completion.value_or(completion_rule::ended);
  }
};

/// Each throws fault_error{bad_input} that names the option.
simulation_driver parse_driver(std::string_view text);
completion_rule parse_completion(std::string_view text);

/// Throws fault_error{bad_input} for a completion rule that the driver does not support.
void check(const driver_options& options);

/// "the actors of a run", "the loop, units are complete when they have ended".
std::string describe(const driver_options& options);

simulated_run simulate(const schedule_instance& instance, std::unique_ptr<policy> chosen,
                       const driver_options& options);

/// Throws fault_error{bad_input} if the optimum is among the policies and this is not simulated as it is searched.
void check_optimum(const std::vector<listed_policy>& policies, const driver_options& options);

/// A row for each policy. `yardstick` belongs to the instance and is the same for both drivers.
comparison compare(const schedule_instance& instance, const std::vector<listed_policy>& policies,
                   const driver_options& options, duration yardstick);

}  // namespace hydra::apps
