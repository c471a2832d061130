#pragma once
// The chat template that a checkpoint's tokenizer brings, which is not run but compared with the one that is chosen.

#include "models/data/chat_template.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace hydra {

/// What to tell a user whose choice writes other texts than the template in the tokenizer's folder
/// (chat_template.jinja, or chat_template in tokenizer_config.json), as far as they are found (jinja_texts.hpp); none
/// if there is no such template, or it is the one that an export with this choice has (chat_jinja.hpp), or it has all
/// of the choice's marks and no line that the choice does not write.
/// `tokenizer`: its file or folder; empty: it has none. `marks`: of its tokens. Throws fault_error{bad_input} for a
/// file that cannot be read.
std::optional<std::string> note_of_stored_template(const std::filesystem::path& tokenizer,
                                                   const template_choice& chosen, const chat_marks& marks);

}  // namespace hydra
