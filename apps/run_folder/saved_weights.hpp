#pragma once
// Which checkpoint of a run's model a command reads.

#include "models/families/catalog.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace hydra::apps {

/// The newest whole checkpoint or best state of a model that has the parameters of a whole step, or that of its best
/// evaluation. Prints on stderr which newer ones it skipped, and why; changes nothing in the folder. Throws
/// fault_error{bad_input}: there is no such checkpoint (the message says what there is, and how the run continues, or
/// that the model has diverged), or that of the best evaluation is damaged (with the file).
std::filesystem::path checkpoint_to_read(const std::filesystem::path& run, const std::string& model, bool best);

/// Why a model has failed, if by values that are not finite, as far as the run folder shows it; else empty.
std::string divergence_of(const std::filesystem::path& run, const std::string& model);

/// The options of hydra export that name a state from before that step, "--step 400 or --best"; empty: there is none.
std::string options_before(const std::filesystem::path& of_model,
                           std::uint32_t step = std::numeric_limits<std::uint32_t>::max());

/// Why a model has no checkpoint of a best evaluation.
std::string reason_without_best(const std::filesystem::path& run, const std::string& model);

/// The whole checkpoint of that model that has the parameters after `step` steps. Throws
/// fault_error{bad_input}: there is none (the message lists the others), or it is damaged (with the file).
std::filesystem::path checkpoint_of_step(const std::filesystem::path& run, const std::string& model,
                                         std::uint64_t step);

/// Steps that its parameters have taken, if it has those of a whole step.
std::uint32_t steps_in(const saved_model& checkpoint);

/// The same chain with the parameters of that checkpoint. Its build() throws as require_chain_of_training().
chain_description with_checkpoint(chain_description description, const std::filesystem::path& checkpoint);

}  // namespace hydra::apps
