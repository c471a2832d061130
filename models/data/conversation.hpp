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

}  // namespace hydra
