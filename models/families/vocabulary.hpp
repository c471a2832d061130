#pragma once
// The samples and the vocabulary of a language model; the latter is chosen by the user, or taken from its data.

#include "models/chain.hpp"
#include "models/data_source.hpp"

#include <cstdint>
#include <string_view>

namespace hydra {

/// One sample of a causal model: i64[tokens], or i64[2, tokens] where it holds several records
/// (layers/packed_tokens.hpp). Throws fault_error{bad_input} for others. `who` names the family.
tensor_spec causal_samples_of(std::string_view who, const data_source& data);

/// Throws fault_error{bad_input} if the data's token ids, which are below `ids`, are not all below `vocabulary`. `who`
/// names the family.
void require_ids(std::string_view who, std::int64_t vocabulary, std::int64_t ids, const data_source& data);

/// `chosen` token ids, or as many as the data have if that is 0. Throws fault_error{bad_input} if there are higher ones
/// in the samples (observed_vocabulary). `who` names the family.
std::int64_t vocabulary_for(std::string_view who, std::int64_t chosen, const data_source& data);

/// Adds a note with the tokens of the data's tokenizer that the model has no rows for, if there are any.
void note_tokens_beyond(chain& model, std::int64_t vocabulary, const data_source& data);

}  // namespace hydra
