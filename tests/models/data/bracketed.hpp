#pragma once
// What is learnt of a conversation, as a text to compare.

#include "models/data/chat_template.hpp"

#include <string>
#include <vector>

namespace hydra::test {

/// The text of a conversation, its answers in brackets.
inline std::string bracketed(const std::vector<chat_piece>& pieces) {
  std::string text;
  for (const auto& p : pieces) text += p.answer ? "[" + p.text + "]" : p.text;
  return text;
}

}  // namespace hydra::test
