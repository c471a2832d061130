#pragma once
// SHA256SUMS in the folder of a checkpoint, as Hydra's exports have it: the files that it lists must match it. Without
// it there is nothing to compare.

#include <filesystem>

namespace hydra {

/// Compares what is not weights, such as config.json, the tokenizer and the chat template: it is small, so this is done
/// before a training begins. Throws fault_error{bad_input} with the file that differs or is missing.
void verify_settings(const std::filesystem::path& folder);

/// Compares everything: reads the weights as a whole. Throws as verify_settings(), and of weights that differ.
void verify_checkpoint(const std::filesystem::path& folder);

}  // namespace hydra
