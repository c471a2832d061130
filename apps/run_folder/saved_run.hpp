#pragma once
// A run folder as commands read it that compute nothing on its devices: its models, and the chain of one of them.

#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// The workload as it was run, without devices and policy; its data need not be there any more, tokenizers must. Throws fault_error{bad_input} if the folder holds none.
workload read_run(const std::filesystem::path& run);

/// Throws fault_error{bad_input} with the nearest name if there is no such model.
const model_entry& find_model(const workload& w, const std::string& name);

/// Builds the chain of a model of the run, with the weights that the description says, for the data it has learnt: as the run
/// folder knows them, or, of an older run, opened again.
chain build_chain(const std::filesystem::path& run, const workload& w, const model_entry& m, const chain_description& description);

}  // namespace hydra::apps
