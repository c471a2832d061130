#pragma once
// The interleaving fuzzer: random workloads under virtual time, a random runnable actor per step, messages that take
// time, a failure at a random moment. What must hold for every run is checked while it runs and at its end.

#include "actors/simulation/simulation.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hydra::test {

/// The failure in a fuzzed run.
enum class mishap {
  none,
  device_dies,
  device_is_declared_lost,
  operation_runs_out_of_memory,
  operation_throws,
  device_breaks,          ///< every operation throws from a certain one on
  device_falls_silent,    ///< from a certain operation on no completion is reported
  controller_dies,
};

struct fuzz_case {
  simulation_setup setup;
  mishap trouble = mishap::none;
  std::size_t trouble_at = 0;     ///< message, or operation submitted to any device, or to the victim
  std::size_t victim = 0;         ///< device
  std::size_t join_at = 0;        ///< message at which another model joins, if there is one
  bool slow_messages = false;     ///< time passes while messages are in transit
  bool prompt = false;           ///< messages take no time and only the devices are scarce
  bool late_completions = false;  ///< completions of different queues overtake each other
  std::string text;               ///< to reproduce it
};

/// 1-4 models of 1-3 shards and 1-3 steps, 1-3 micro-batches, on 1-3 devices with one or two slots; many durations are
/// zero; device and host budgets are often exactly sufficient; each policy. In a third of the cases another model joins
/// at a random moment.
fuzz_case make_case(std::uint32_t seed);

/// Runs it in a random order of messages. Returns an empty text, or what was wrong: a violation of the protocol
/// (protocol_witness.hpp), a hang, a model that did not finish, a unit done twice or before its predecessor, a lease,
/// output buffer or reservation that was not returned. `told` (may be null) gets the transcript.
std::string run_case(fuzz_case c, std::uint32_t seed, std::vector<std::string>* reported);

/// The first of the cases in [first, last] that fails, with the end of its transcript; empty if none does.
std::string fuzz(std::uint32_t first, std::uint32_t last);

}  // namespace hydra::test
