#pragma once
// The tokenizer that an option names; and copies of a tokenizer's files.

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fwd.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace hydra::apps {

/// What --tokenizer names: "bytes", a file or a folder. Throws fault_error{bad_input} for an empty text, and if the
/// system cannot say what is at the path.
tokenizer_choice named_tokenizer(const std::string& name);

/// By its name in the export, the file that it is a copy of.
using copied_files = std::map<std::string, std::filesystem::path>;

/// Adds copies of the tokenizer's files under the names that Hugging Face's libraries look for, and of its settings if
/// they are next to them; a tokenizer.json gets the tokens that the choice adds, and those of the settings, which
/// have ids before these. Adds nothing for bytes. Throws fault_error{io} if one cannot be read, {bad_input} if one is
/// missing.
copied_files copy_tokenizer_files(durable_folder& into, const tokenizer_choice& tokenizer);

/// Adds a copy of a file of the checkpoint that the model started from, if it is there. Throws fault_error{io} if it
/// cannot be read.
void copy_if_there(durable_folder& into, const std::filesystem::path& checkpoint, const std::string& name);

}  // namespace hydra::apps
