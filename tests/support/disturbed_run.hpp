#pragma once
// A small simulated run to which something happens at a given message.

#include "tests/support/small_run.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hydra::test {

/// Two and three shards, two steps, two micro-batches; boundaries take a fifth of a visit.
std::vector<simulated_model> small_models();

/// Budgets that are just sufficient: (P + C) + W.
simulation_setup small_run(std::size_t devices, std::uint32_t slots);

/// Runs in order and lets `disturb` act before message `at`. The number of messages of the run; the witness's complaint
/// in `complaint`.
std::size_t run_disturbed(simulation& s, std::size_t at, const std::function<void()>& disturb, std::uint32_t slots,
                          std::string& complaint);

}  // namespace hydra::test
