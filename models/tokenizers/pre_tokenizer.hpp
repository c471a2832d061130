#pragma once
// Splitting a text into words; merges never cross word boundaries.

#include "models/tokenizers/split_pattern.hpp"

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Texts that a call of encode() has created; views of them stay valid until it returns.
using made_texts = std::deque<std::string>;

/// How SentencePiece writes blanks: each is replaced, and a piece that does not start with one gets one.
struct metaspace {
  enum class prefix { always, first, never };  ///< first: only a piece at the start of the text

  std::string replacement = "\u2581";
  prefix when = prefix::always;
};

/// One splitting step.
struct pre_tokenizer_step {
  enum class kind {
    isolate,         ///< matches and the text between them are pieces
    remove_found,    ///< matches are dropped
    remove_between,  ///< the text between matches is dropped
    cut_before,      ///< every match starts a piece
    cut_after,       ///< every match ends a piece
    prefix_space,    ///< a piece that does not start with a space gets one
    write_blanks,    ///< as `blanks` says
  };
  kind what = kind::isolate;
  split_pattern pattern{""};  ///< ignored by prefix_space and write_blanks
  metaspace blanks{};         ///< of write_blanks
};

/// Steps that each split the pieces of the previous one. Thread-safe because const.
class pre_tokenizer {
 public:
  using sink = std::function<void(std::string_view)>;

  explicit pre_tokenizer(std::vector<pre_tokenizer_step> steps);

  /// A part of a text, and whether it is at the text's start.
  struct part {
    std::string_view text;
    bool first = true;
  };
  /// Calls `word` for each piece in order; none is empty. The text is valid UTF-8.
  void split(part whole, made_texts& made, const sink& word) const;

 private:
  void split_from(std::size_t step, part whole, made_texts& made, const sink& word) const;

  std::vector<pre_tokenizer_step> steps_;
};

}  // namespace hydra
