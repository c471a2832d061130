#pragma once
// A run folder, for commands that do not use its devices: its models, and the chain of one of them.

#include "apps/run_folder/moved_bases.hpp"
#include "apps/workload/workload.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// Throws fault_error{bad_input} with what can be done instead if this is the run of a C++ program.
void refuse_run_of_program(const std::filesystem::path& run);

/// The workload as it was run, without devices and policy; its data may be gone, but its tokenizers must exist. Throws
/// fault_error{bad_input} if the folder has no workload, and as moved_bases::place().
workload read_run(const std::filesystem::path& run, const moved_bases& bases = {});

/// Throws fault_error{bad_input} with the nearest name if there is no such model.
const model_entry& find_model(const workload& w, const std::string& name);

/// Builds the chain of a model of the run, with the weights of the description, for the data it was trained on: as
/// data.json describes them, or, if an older run has none, opened again.
chain build_chain(const std::filesystem::path& run, const workload& w, const model_entry& m,
                  const chain_description& description);

}  // namespace hydra::apps
