#pragma once
// Whether the files that a run's model is built from are still those that it was trained with: a run folder has its
// parameters, but not the config.json and the tokenizer of the checkpoint that it began from.

#include "models/data/data_catalog.hpp"
#include "models/families/catalog.hpp"

#include <filesystem>

namespace hydra::apps {

/// Throws fault_error{bad_input} with what differs unless the layers of `now`, as they were described, are those that
/// the checkpoint was trained with. Only of chains that start from a folder: all else is in the run's workload.
void require_chain_of_training(const std::filesystem::path& checkpoint, const chain_description& description,
                               const chain& now);

/// Throws fault_error{bad_input} if the tokenizer that reads `data` is not the one of the training, where that is
/// recorded; or with what to write if the checkpoint is from an older run, in which models that start from a checkpoint
/// read data without a `tokenizer` as bytes, and `data` name none.
void require_tokenizer_of_training(const std::filesystem::path& checkpoint, const data_description& data,
                                   const sample_request& wants);

}  // namespace hydra::apps
