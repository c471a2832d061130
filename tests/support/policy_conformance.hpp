#pragma once
// What every policy must stand, whoever wrote it: built in, an example, a plug-in.

#include "actors/policy/policy.hpp"

#include <functional>
#include <memory>

namespace hydra::test {

/// Runs random instances (equal and mixed devices, transfers, slots, noise, arrivals, device losses) under the policies
/// that `make` makes, and requires: every choice is a candidate; two objects that see the same calls answer the same;
/// every model finishes; the policy is never silent while nothing is under way; ids that it has never seen may leave.
/// For Catch2 test cases.
void conforms(const std::function<std::unique_ptr<policy>()>& make);

}  // namespace hydra::test
