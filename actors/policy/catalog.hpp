#pragma once
// The table of built-in policies. Standard library only.

#include "actors/policy/policy.hpp"
#include "actors/policy/policy_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// A policy that can be chosen by name.
struct policy_entry {
  std::string name;
  std::string help;                    ///< one line for `hydra policies`
  std::vector<option> options;
  std::function<std::unique_ptr<policy>(const policy_options&)> make;  ///< from complete options
};

/// The policy of a run that does not name one.
inline constexpr const char* default_policy = "stay-pace";

/// In the order in which they are listed.
const std::vector<policy_entry>& built_in_policies();

/// The entry of that name. Throws fault_error{bad_input} that names the nearest known policy.
const policy_entry& find_policy(const std::vector<policy_entry>& table, const std::string& name);

/// A built-in policy. Throws fault_error{bad_input} for an unknown name, an unknown option or an impossible value.
std::unique_ptr<policy> make_policy(const std::string& name, const policy_options& options);

/// The same with standard values.
std::unique_ptr<policy> make_policy(const std::string& name, std::uint64_t seed);

}  // namespace hydra
