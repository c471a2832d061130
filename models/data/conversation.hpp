#pragma once
// A conversation, as chat data have it.

#include <string>
#include <vector>

namespace hydra {

struct chat_message {
  std::string role;  ///< "system", "user", "assistant", or what a template knows besides
  std::string content;
  friend bool operator==(const chat_message&, const chat_message&) = default;
};

using conversation = std::vector<chat_message>;

inline bool is_answer(const chat_message& m) { return m.role == "assistant"; }

}  // namespace hydra
