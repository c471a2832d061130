#pragma once
// A model that starts from a checkpoint of another one (model_description::begins).

#include "actors/admission/resumption.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <filesystem>
#include <string>

namespace hydra {

/// What the checkpoint holds: SHA-256 of its list of checksums. Throws fault_error{bad_input} if there is no such
/// folder, or no list in it.
std::string checkpoint_digest(const std::filesystem::path& checkpoint);

/// The checkpoint `now.begins`, as if the model had saved it: its step is not begun, its identity is that of the model.
/// Parameters, frozen values and the form of the optimizer's state must be those of the checkpoint; rates, schedule,
/// data, batches and steps may differ. Throws fault_error{bad_input} naming model and checkpoint.
saved_model beginning(const resumed_model& now);

}  // namespace hydra
