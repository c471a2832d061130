#pragma once
// A chat template in Jinja, as other programs need it.

#include "models/data/chat_template.hpp"

#include <string>

namespace hydra {

/// The same text as chat_template writes, after what begins a text, for transformers' apply_chat_template
/// (chat_template.jinja), which adds nothing; with add_generation_prompt also what precedes the assistant's next
/// message. The marks are in it as texts. A checkpoint's is as it is.
std::string chat_jinja(const template_choice& format, const chat_marks& marks);

}  // namespace hydra
