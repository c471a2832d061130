#pragma once
// A text file as tokens of a tokenizer.

#include "models/data/token_cache.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace hydra {

/// "sha256:..." of a file's bytes.
std::string digest_of(const mapped_file& file);

/// A mapped UTF-8 text. Throws as mapped_file does, and fault_error{bad_input} with the position of the first byte that
/// is not UTF-8.
std::shared_ptr<const mapped_file> map_text(const std::filesystem::path& text);

/// The key of tokens in the cache: what was tokenised ("text sha256:..."), and everything else that their ids depend
/// on.
std::string cache_key(std::string_view what, const tokenizer& by);

/// Tokenises a text a few MiB at a time, cut at line breaks, if the tokenizer's ids do not depend on what comes before
/// a line break (tried on a few lines: a SentencePiece prefix does) and no added token spans one; otherwise as a whole.
/// The ids are those of the whole text.
void tokenize(std::string_view text, const tokenizer& by, const token_sink& sink);

/// Where `text`, longer than `least`, can be cut after a line break at or after `least` without splitting a piece of
/// text that tokenizers keep together: white space goes with the line break except for one blank before the next word.
/// text.size() if there is no such place.
std::size_t line_cut(std::string_view text, std::size_t least) noexcept;

/// The tokens of a text file; uses the token cache. Throws as map_text does.
token_list tokens_of(const std::filesystem::path& text, std::shared_ptr<const tokenizer> by);

}  // namespace hydra
