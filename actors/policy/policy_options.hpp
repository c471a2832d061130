#pragma once
// Options of policies: numbers by name, checked before a policy is created. Standard library only.

#include "runtime/base/option.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hydra {

/// Constructor arguments of a policy.
struct policy_options {
  std::uint64_t seed = 0;                  ///< of the run
  std::map<std::string, double> values{};  ///< by option name; all options once they are completed
};

/// `given` with the default values of options that it leaves out. `known` are numbers. Throws fault_error{bad_input} of
/// the other complete().
inline policy_options complete(const policy_options& given, const std::vector<option>& known,
                               const std::string& policy) {
  return {.seed = given.seed, .values = complete_numbers("policy \"" + policy + '"', given.values, known)};
}

}  // namespace hydra
