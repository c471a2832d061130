#pragma once
// Vocabularies and merges as stored in files.

#include "models/tokenizers/merge_table.hpp"
#include "models/tokenizers/token_table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace hydra {

/// {"token": id, ...} at `place` of `file`, or the whole file. Throws fault_error{bad_input} with the token.
token_table read_vocabulary(const nlohmann::json& vocabulary, std::string_view file, std::string_view place);

/// vocab.txt: a token on each line, whose id is the line's number from 0 on; trailing white space is not part of it.
token_table read_vocabulary_lines(std::string_view text, std::string_view file);

/// ["a b", ...] or [["a", "b"], ...], the earlier the lower in rank. Throws fault_error{bad_input} with the merge's
/// place if it is not two tokens whose union is a token.
merge_table read_merges(const nlohmann::json& merges, const token_table& tokens, std::string_view file);

/// merges.txt: two tokens on each line; a first line "#version: ..." is skipped.
merge_table read_merge_lines(std::string_view text, const token_table& tokens, std::string_view file);

}  // namespace hydra
