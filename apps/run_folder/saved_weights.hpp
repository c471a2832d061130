#pragma once
// Which checkpoint of a run's model a command reads.

#include "models/families/catalog.hpp"
#include "models/data/data_catalog.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace hydra::apps {

/// The newest whole checkpoint of a model between two steps, or that of its best evaluation. Prints on stderr which newer
/// ones it passed over, and why; changes nothing in the folder. Throws fault_error{bad_input} with what there is if there
/// is none, or with the file if that of the best evaluation is damaged.
std::filesystem::path checkpoint_to_read(const std::filesystem::path& run, const std::string& model, bool best);

/// Older runs of models that start from a checkpoint read data without a `tokenizer` as bytes, not by the checkpoint's. Throws
/// fault_error{bad_input} with what to write if the checkpoint is of one, and `data` name no tokenizer.
void require_tokenizer_of_training(const std::filesystem::path& checkpoint, const data_description& data,
                                   const sample_request& wants);

/// The whole checkpoint of that model between two steps when so many were complete. Throws fault_error{bad_input} with those
/// that there are if there is none, or with the file if it is damaged.
std::filesystem::path checkpoint_of_step(const std::filesystem::path& run, const std::string& model, std::uint64_t step);

/// Steps that were complete when it was saved between two steps.
std::uint32_t steps_in(const saved_model& checkpoint);

/// The same chain with the parameters of that checkpoint.
chain_description with_checkpoint(chain_description description, const std::filesystem::path& checkpoint);

}  // namespace hydra::apps
