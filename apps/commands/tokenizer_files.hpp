#pragma once
// The tokenizer that an option names; and the files that an exported checkpoint needs in addition to the weights: the
// tokenizer of the data, and the settings of the checkpoint that the model was started from.

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fwd.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

/// What --tokenizer names: "bytes", a file or a folder. Throws fault_error{bad_input} for an empty text, and if the
/// system cannot say what is at the path.
tokenizer_choice named_tokenizer(const std::string& name);

/// Adds copies of the tokenizer's files under the names that Hugging Face's libraries look for, and of its settings if
/// they are next to them. Adds nothing for bytes. Throws fault_error{io} if one cannot be read, {bad_input} if one is
/// missing.
void copy_tokenizer_files(durable_folder& into, const tokenizer_choice& tokenizer);

/// Adds copies of generation_config.json and chat_template.jinja, if they are in the folder of the checkpoint that the
/// model started from. Throws fault_error{io} if one cannot be read.
void copy_checkpoint_files(durable_folder& into, const std::filesystem::path& checkpoint);

}  // namespace hydra::apps
