#pragma once
// Which policies are simulated.

#include "actors/session/policy_registry.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

/// A policy with its options. `name` is as the user has written it.
struct listed_policy {
  std::string name;
  std::function<std::unique_ptr<policy>(std::uint64_t seed)> make;
};

/// Commas between policies: "fifo,band-hold(critical_units=2,critical_share=0),libx.so:mine". Or "all". Or
/// nothing: those that choose without chance or search, what is compared unless asked for others. In the order given.
/// Throws fault_error{bad_input}: unknown policies or options, with the nearest known one; what is given twice; policy
/// actors.
std::vector<listed_policy> parse_policies(const std::string& text, policy_registry& registry);

std::vector<std::string> names_of(const std::vector<listed_policy>& policies);

}  // namespace hydra::apps
