#pragma once
// The vocabulary of a language model: chosen by the user, or taken from its data.

#include "models/data_source.hpp"

#include <cstdint>
#include <string_view>

namespace hydra {

/// Throws fault_error{bad_input} if the data's token ids, which are below `ids`, are not all below `vocabulary`. `who`
/// names the family.
void require_ids(std::string_view who, std::int64_t vocabulary, std::int64_t ids, const data_source& data);

/// `chosen` token ids, or as many as the data have if that is 0. Throws fault_error{bad_input} if the data have more.
/// `who` names the family.
std::int64_t vocabulary_for(std::string_view who, std::int64_t chosen, const data_source& data);

}  // namespace hydra
