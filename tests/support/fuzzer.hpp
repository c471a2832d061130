#pragma once
// The interleaving fuzzer: random workloads under virtual time, a random runnable actor per step, a device lost at a
// random step. What must hold for every run is checked by `check`.

#include "actors/simulation/simulation.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace hydra::test {

/// What goes wrong in a fuzzed run.
enum class mishap { none, device_dies, device_is_declared_lost };

struct fuzz_case {
  simulation_setup setup;
  mishap trouble = mishap::none;
  std::size_t trouble_at = 0;      ///< step of the simulation
  std::size_t victim = 0;          ///< device
  std::string text;                ///< to reproduce it
};

/// 1-4 models of 1-3 shards and 1-3 steps, 1-3 micro-batches, on 1-3 devices; many lengths are zero; budgets from just
/// sufficient to ample; each policy.
fuzz_case make_case(std::uint32_t seed);

/// Runs it in a random order of messages. Returns an empty text, or what was wrong: a hang, a model that did not
/// finish, a unit done twice or before its predecessor, a lease, landing buffer or reservation that was not returned.
std::string run_case(fuzz_case c, std::uint32_t seed);

}  // namespace hydra::test
