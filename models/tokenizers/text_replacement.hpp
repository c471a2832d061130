#pragma once
// Replacing what a pattern finds in a text.

#include "models/tokenizers/split_pattern.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hydra {

/// Replaces all matches, from left to right. Thread-safe because const.
class text_replacement {
 public:
  /// A literal text is not empty; a pattern does not match the empty text.
  text_replacement(std::variant<std::string, split_pattern> what, std::string content);

  /// Empty if nothing is found. `text` is valid UTF-8.
  std::optional<std::string> apply(std::string_view text) const;

 private:
  std::variant<std::string, split_pattern> what_;
  std::string content_;
};

}  // namespace hydra
