#pragma once
// The text of tokens that SentencePiece's kinds of tokenizers write.

#include "models/tokenizers/text_replacement.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// The decoders of a tokenizer.json, one after the other. Thread-safe because const.
class piece_decoder {
 public:
  /// Changes a list of tokens, which are joined after the last step.
  using step = std::function<void(std::vector<std::string>& tokens)>;

  /// Without steps, tokens are joined by blanks.
  explicit piece_decoder(std::vector<step> steps) : steps_{std::move(steps)} {}
  std::string text(std::vector<std::string> tokens) const;

 private:
  std::vector<step> steps_;
};

piece_decoder::step replace_in_tokens(text_replacement rule);
/// Runs of "<0x0A>" become their bytes; each byte of a run that is not UTF-8 becomes U+FFFD.
piece_decoder::step join_bytes();
piece_decoder::step fuse_tokens();
/// Removes up to so many of these characters from the ends of each token.
struct stripped_ends {
  std::string character;
  std::size_t start = 0, stop = 0;
};
piece_decoder::step strip_tokens(stripped_ends ends);
/// The written blanks become blanks, those of the first token nothing if `has_prefix`.
piece_decoder::step read_blanks(std::string written, bool has_prefix);

}  // namespace hydra
