#pragma once
// Texts are for models with a context.

#include <cstdint>
#include <string_view>

namespace hydra {

/// Throws fault_error{bad_input} with the key to change if a model asks for no tokens. `data` is the start of the
/// message.
void require_text_context(std::string_view data, std::int64_t context);

}  // namespace hydra
