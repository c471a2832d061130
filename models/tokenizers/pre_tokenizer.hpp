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

/// One splitting step.
struct pre_tokenizer_step {
  enum class kind {
    isolate,         ///< matches and the text between them are pieces
    remove_found,    ///< matches are dropped
    remove_between,  ///< the text between matches is dropped
    prefix_space,    ///< a piece that does not start with a space gets one
  };
  kind what = kind::isolate;
  split_pattern pattern{""};  ///< ignored by prefix_space
};

/// Steps that each split the pieces of the previous one. Thread-safe because const.
class pre_tokenizer {
 public:
  using sink = std::function<void(std::string_view)>;

  explicit pre_tokenizer(std::vector<pre_tokenizer_step> steps);

  /// Calls `word` for each piece in order; none is empty. `text` is valid UTF-8.
  void split(std::string_view text, made_texts& made, const sink& word) const;

 private:
  void split_from(std::size_t step, std::string_view text, made_texts& made, const sink& word) const;

  std::vector<pre_tokenizer_step> steps_;
};

}  // namespace hydra
