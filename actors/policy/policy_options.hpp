#pragma once
// Options of policies: numbers by name, checked before a policy is created. Standard library only.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hydra {

/// An option that a policy knows.
struct policy_option {
  std::string name;
  double standard = 0;  ///< its value when none is given
  double least = 0;
  double most = 0;
  std::string help;
};

/// Constructor arguments of a policy.
struct policy_options {
  std::uint64_t seed = 0;                  ///< of the run
  std::map<std::string, double> values{};  ///< by option name; all options once they are completed
};

/// `given` with the default values of options that it leaves out. Throws fault_error{bad_input} that names the policy
/// and the nearest known option, or the range of the value.
policy_options complete(policy_options given, const std::vector<policy_option>& known, const std::string& policy);

}  // namespace hydra
