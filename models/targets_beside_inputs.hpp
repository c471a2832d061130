#pragma once
// Samples of text whose targets are in their inputs, too: for a head in pieces (pieces/token_columns.hpp).

#include "models/data_source.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace hydra {

/// The same spec with a row more, i64[rows + 1, tokens]; none: the samples are not those of a causal language model.
std::optional<tensor_spec> with_row_of_targets(const tensor_spec& sample_input);

/// Inputs get the targets as their last row, all else is that of `source`, whose ids and targets must be below
/// `vocabulary` (targets also -100): read() throws fault_error{bad_input} with the sample for others, of which a head
/// in pieces would not know. Throws {bad_input} unless there is a target for each token.
std::shared_ptr<const data_source> targets_beside_inputs(std::shared_ptr<const data_source> source,
                                                         std::int64_t vocabulary);

/// The source that was given to targets_beside_inputs(), or this one.
const data_source& without_targets(const data_source& source);

}  // namespace hydra
