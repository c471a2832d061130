#pragma once
// Whether a model of conversations learns to end an answer.

#include "models/data/chat_template.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <optional>
#include <string>

namespace hydra {

/// For the user: that what is learnt of an answer has no token that ends it, so that a text which is generated goes on
/// behind it, why, and what to do. Nothing if it has one. `name`: of the data. Throws fault_error{bad_input} as
/// chat_template does.
std::optional<std::string> note_on_answer_end(const std::string& name, const template_choice& format, chat_loss loss,
                                              const tokenizer& by);

}  // namespace hydra
