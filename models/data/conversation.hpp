#pragma once
// A conversation, as chat data have it.

#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct chat_message {
  std::string role;  ///< "system", "user", "assistant", or what a template knows besides
  std::string content;
  std::optional<bool> learnt{};  ///< whether the data say that it is (OpenAI's "weight", axolotl's "train")
  std::string reasoning{};  ///< what an assistant thought before, apart from the content; empty: the data have none
  friend bool operator==(const chat_message&, const chat_message&) = default;
};

using conversation = std::vector<chat_message>;

inline bool is_answer(const chat_message& m) { return m.role == "assistant"; }
inline bool is_learnt(const chat_message& m) { return is_answer(m) && m.learnt.value_or(true); }

}  // namespace hydra
