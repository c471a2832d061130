#pragma once
// A chat template as other programs need it: the token that ends a turn, and the template in Jinja.

#include "models/data/chat_template.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace hydra {

/// The token that ends what an assistant says. Of a template that is given by roles: the assistant's suffix, apart from
/// white space around it, if that is one token of several characters. Empty: there is none, or the tokenizer does not
/// have it.
std::optional<std::uint32_t> end_of_turn(const template_choice& format, const tokenizer& by);

/// The same text as chat_template writes, after what begins a text, for transformers' apply_chat_template
/// (chat_template.jinja), which adds nothing; with add_generation_prompt also what precedes the assistant's next
/// message. The marks are in it as texts.
std::string chat_jinja(const template_choice& format, const chat_marks& marks);

}  // namespace hydra
