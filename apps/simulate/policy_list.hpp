#pragma once
// Which policies are simulated.

#include "actors/session/policy_registry.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra::apps {

/// A policy with its options. `name` is what the user has written.
struct listed_policy {
  std::string name;
  std::function<std::unique_ptr<policy>(std::uint64_t seed)> make;   ///< empty: the optimum of each instance
  bool is_optimum() const noexcept { return !make; }
};

/// Policies separated by commas: "fifo,band-hold(critical_units=2,critical_share=0),libx.so:mine". "all": all of them.
/// An empty text: all that choose without chance. "exact": the optimum, which is searched. In the order given. Throws
/// fault_error{bad_input}: an unknown policy or option (the message names the nearest known one), a policy that is
/// given twice.
std::vector<listed_policy> parse_policies(const std::string& text, policy_registry& registry);

/// One that is known, with options; `name`: as parse_policies() would read it. Throws as that does.
listed_policy listed(const std::string& name, const known_policy& known, std::map<std::string, double> options);

std::vector<std::string> names_of(const std::vector<listed_policy>& policies);

}  // namespace hydra::apps
