#pragma once
// Three small models that differ in everything that could leak from one into another, and the results of plain
// training.

#include "tests/support/spilled_run.hpp"

#include <vector>

namespace hydra::test {

/// Dropout, clipping, micro-batches, AdamW and SGD, tied and untied.
std::vector<exact_case> mixed_workload();

/// Of the reference trainer; trained once.
const std::vector<reference_result>& plain_results();

/// Every model has plain training's bits, every device has kept its budget (a Catch2 requirement).
void require_mixed_bits(const spilled_result& spilled);

cpu_device roomy();
/// The smallest sufficient budget of the workload, to the byte.
cpu_device tiny();

}  // namespace hydra::test
