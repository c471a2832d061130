#pragma once
// Random profiles, for tests of cuts and plans.

#include "models/chain.hpp"
#include "partition/profile/profile.hpp"

#include <cstddef>
#include <memory>
#include <random>

namespace hydra::test {

/// 512 times 1..most.
byte_count some_bytes(std::mt19937& random, std::uint64_t most);

/// Random bytes and times; boundaries fit each other. Outputs shrink as often as they grow, and a layer may save less
/// than its output: a longer piece may need less than a shorter one.
chain_profile random_profile(std::mt19937& random, std::size_t layers);

/// A chain of as many layers that do nothing and have no parameters.
std::shared_ptr<const chain> idle_chain(std::size_t layers);

}  // namespace hydra::test
