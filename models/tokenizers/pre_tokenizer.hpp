#pragma once
// Cutting a text into words, between which nothing merges.

#include "models/tokenizers/split_pattern.hpp"

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Texts that a call of encode() has made; views of them stay valid until it returns.
using made_texts = std::deque<std::string>;

/// One step of cutting.
struct pre_tokenizer_step {
  enum class kind {
    isolate,         ///< what the pattern finds and what lies between are pieces
    remove_found,    ///< what the pattern finds is dropped
    remove_between,  ///< what lies between is dropped
    prefix_space,    ///< a piece that begins with no space gets one
  };
  kind what = kind::isolate;
  split_pattern pattern{""};  ///< not looked at by prefix_space
};

/// Steps that each cut the pieces of the one before. Thread-safe because const.
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
