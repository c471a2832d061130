#pragma once
// Conversations as a checkpoint's own chat template writes them.

#include "models/data/chat_template.hpp"
#include "models/jinja/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// A content that no conversation has, and that no template takes apart.
inline constexpr std::string_view stand_in = "AnswerThatStandsHereInsteadOfAnother";

/// Texts are those of transformers' apply_chat_template without tools. Thread-safe because const.
///
/// What an assistant writes is what the template marks ({% generation %}). A template without marks is asked: an answer
/// begins where the text with a generation prompt, of the messages before it, ends; it ends before what follows its
/// content, or behind the special tokens which that begins with wherever an answer ends, or, if there are none, behind
/// the one that the last answer ends with (gpt-oss). Both are looked up in the text of the whole conversation, which
/// may have less of an earlier answer than of the last one: Qwen 3 leaves its thoughts out.
class stored_chat {
 public:
  /// `by` is used as long as it lives. Throws fault_error{bad_input} for a template that Hydra cannot read.
  stored_chat(const stored_template& stored, const tokenizer& by);

  /// Throws fault_error{bad_input} for a conversation that the template refuses, and if an answer that is learnt cannot
  /// be found in the text.
  std::vector<chat_piece> render(const conversation& c) const;

  /// With what precedes the assistant's next message.
  std::string prompt(const conversation& c) const;

  /// The last of the special tokens behind an answer; nothing if there is none.
  std::optional<std::uint32_t> end_of_turn() const { return turn_end_.token; }

 private:
  struct turn_end {
    std::string text{};                    ///< special tokens, with white space before each
    std::optional<std::uint32_t> token{};  ///< the last of them
  };
  turn_end find_turn_end() const;
  /// Of an answer that is the last message, as far as one that is followed ends so, too; without that one token.
  turn_end end_in(const std::string& last, const std::optional<std::string>& followed) const;
  std::optional<std::string> after_stand_in(const conversation& c) const;
  jinja::rendering write(const conversation& c, bool prompts = false) const;
  std::optional<std::string> try_prompt(const conversation& c) const;
  std::vector<jinja::text_range> answers_in(const conversation& c, const std::string& text) const;
  jinja::text_range answer_in(const conversation& c, std::size_t message, const std::string& text) const;
  std::vector<jinja::text_range> marked_in(const conversation& c, const jinja::rendering& r) const;
  std::size_t end_mark(std::string_view after) const;

  jinja::program program_;
  jinja::value_map given_;
  std::string who_;                ///< for messages: its file
  bool writes_reasoning_ = false;  ///< asks for it, at least
  const tokenizer& by_;
  turn_end turn_end_{};
};

}  // namespace hydra
