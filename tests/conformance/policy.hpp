#pragma once
// Requirements of every policy: built in, an example, a plug-in.

#include "actors/policy/policy.hpp"

#include <functional>
#include <memory>

namespace hydra::test {

/// Runs random instances (equal and mixed devices, transfers, slots, noise, arrivals, device losses; each with its
/// steps divided into replicas and waves, too) under the policies that `make` makes, and requires: every choice is a
/// candidate; two objects that see the same calls answer the same; every model finishes; the policy always chooses
/// something while nothing is under way; unknown ids may leave.
/// For Catch2 test cases.
void conforms(const std::function<std::unique_ptr<policy>()>& make);

}  // namespace hydra::test
