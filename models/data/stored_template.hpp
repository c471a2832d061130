#pragma once
// The chat template that a checkpoint's tokenizer brings: it is taken, or compared with the one that is chosen.

#include "models/data/chat_template.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace hydra {

/// The choice with what it wants of a checkpoint: the template (chat_template.jinja, or chat_template in
/// tokenizer_config.json) and the special tokens in the tokenizer's folder; for a choice that names none, too, if it is
/// there. Throws fault_error{bad_input} for a file that cannot be read, and if there is no template.
template_choice with_stored(template_choice chosen, const tokenizer_choice& read_by, const chat_marks& marks);

/// Whether it is there. `tokenizer`: its file or folder; empty: it has none.
bool has_stored_template(const std::filesystem::path& tokenizer);

/// For the user. Of the checkpoint's own: that it wants the date of today, which it does not get. Of another choice, if
/// it writes other texts than the template in the tokenizer's folder, as far as they are found (jinja_texts.hpp);
/// nothing if there is no such template, or it is the one that an export with this choice has (chat_jinja.hpp), or it
/// has all of the choice's marks and no line that the choice does not write. `tokenizer`: its file or folder; empty: it
/// has none. `marks`: of its tokens. Throws fault_error{bad_input} for a file that cannot be read.
std::optional<std::string> note_of_stored_template(const std::filesystem::path& tokenizer,
                                                   const template_choice& chosen, const chat_marks& marks);

}  // namespace hydra
