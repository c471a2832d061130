#pragma once
// The table of built-in policies. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct policy_entry {
  std::string name;
  std::string help;  ///< one line for `hydra policies`
  std::function<std::unique_ptr<policy>(std::uint64_t seed)> make;
};

/// sharded-lrtf (default), fifo, round-robin, random, whole-model.
const std::vector<policy_entry>& built_in_policies();

/// Throws fault_error{bad_input} that names the nearest known policy.
std::unique_ptr<policy> make_policy(const std::string& name, std::uint64_t seed);

}  // namespace hydra
