#pragma once
// Records of text as tokens for models that predict the next one.

#include "models/data/chat_template.hpp"
#include "models/data/record_list.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// A token id; its highest bit says that the token is a target with a loss. A record's first token is not a target:
/// there the bit says that the record has lost tokens.
using record_word = std::uint32_t;
constexpr record_word counted_word = record_word{1} << 31, shortened_record = counted_word;

/// Receives the tokens of a record. A record of n tokens fills n - 1 places of a window: the last one is only a target.
using record_sink = std::function<void(std::span<const record_word>)>;

/// How a record of a file becomes records of tokens, each of at most `window` + 1.
struct record_encoding {
  std::string key;  ///< what the tokens depend on, apart from the file and the tokenizer
  std::function<void(const text_record& record, const record_sink& sink)> encode;
};

/// Encodes one record of a list; errors name its file and line.
void encode_record(const record_encoding& encoding, const record_list& records, std::size_t index,
                   const record_sink& sink);

/// The tokens of prompt and text as a whole, between what begins and ends a text (text_frame.hpp). The loss is on the
/// text: on each token that has a part of it, and on the end. A record that is too long loses the start of its prompt,
/// but not what begins a text, down to half of the window, then the end of its text. With `whole_texts` a text without
/// prompt loses nothing: it becomes several records, each of which goes on where the one before ends.
record_encoding prompt_encoding(std::shared_ptr<const tokenizer> by, std::size_t window, bool whole_texts);

struct chat_encoding_options {
  template_choice format{};
  chat_loss loss = chat_loss::assistant;
  std::optional<std::size_t> window{};  ///< none: conversations of any length
};

/// Throws fault_error{bad_input} for a conversation that chat_encoding() refuses: it can be tried before anything is
/// tokenised.
record_test chat_test(const template_choice& format, const tokenizer& by, chat_loss loss);

/// The tokens of the text that the template makes of a conversation, as a whole, after what begins a text unless the
/// template writes it. One that is too long loses its first turns, each from a message of the user to the next, but not
/// its system message; if one turn is too long, what precedes its first target loses its start, but not what begins a
/// text, down to half of the window, then the rest its end. Throws fault_error{bad_input} as chat_template does;
/// encode() throws for a conversation that the template refuses, or that has no message of the assistant that is
/// learnt, and so no loss, or an empty one.
record_encoding chat_encoding(std::shared_ptr<const tokenizer> by, chat_encoding_options options);

}  // namespace hydra
