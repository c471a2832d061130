#pragma once
// A small simulated run that is disturbed at a given message.

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

/// Runs the messages in order and calls `disturb` before message `at`. Returns the number of messages of the run;
/// `complaint` gets the witness's complaint.
std::size_t run_disturbed(simulation& s, std::size_t at, const std::function<void()>& disturb, std::uint32_t slots,
                          std::string& complaint);

}  // namespace hydra::test
