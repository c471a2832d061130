#pragma once
// The class with which transformers opens a tokenizer: some make parts of it themselves, whatever tokenizer.json says.

#include "models/tokenizers/tokenizer.hpp"
#include "models/tokenizers/tokenizer_settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// The class that AutoTokenizer takes, without "Fast": it follows from tokenizer_class and from config.json's
/// model_type. "TokenizersBackend" takes a tokenizer.json as it is. Source: transformers 5.23,
/// models/auto/tokenization_auto.py.
std::string class_of_tokenizer(const tokenizer_settings& settings);

/// Whether that class makes normalizer and pre_tokenizer in a way that Hydra knows.
bool makes_parts(const tokenizer_settings& settings, const model_config& file);

/// Beside a tokenizer.json: a note, if its normalizer, pre_tokenizer, model or post_processor are others than those
/// that the class makes from its defaults and the settings. `special` is what was read. Nothing for other classes.
std::vector<std::string> class_notes(const tokenizer_settings& settings, const model_config& file,
                                     const special_tokens& special);

/// Beside a tokenizer.model: a note, if the class puts blanks in other places than SentencePiece does.
std::vector<std::string> class_notes_on_pieces(const tokenizer_settings& settings, std::string_view file);

/// Throws fault_error{bad_input} with the class and how to make a tokenizer.json or token ids, unless the class is one
/// of `known`, which make the words that Hydra does from `vocabulary`, or says nothing about them.
void require_class(const tokenizer_settings& settings, std::string_view vocabulary,
                   std::span<const std::string_view> known);

}  // namespace hydra
