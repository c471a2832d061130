#pragma once
// How a conversation is written as one text: chat templates.

#include "models/data/conversation.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Which turns of a conversation have a loss.
enum class chat_loss : std::uint8_t {
  assistant,  ///< all of the assistant's, with the marks that end them, but those that the data say are not learnt
  last,       ///< the last of them
  all         ///< every token
};

/// A part of the text of a conversation. `answer`: what an assistant says and is learnt, with the mark that ends its
/// turn.
struct chat_piece {
  std::string text;
  bool answer = false;
};

/// What is written before and after the content of a message.
struct role_marks {
  std::string prefix, suffix;
  friend bool operator==(const role_marks&, const role_marks&) = default;
};

/// The chat template that a checkpoint brings.
struct stored_template {
  std::filesystem::path file{};
  std::string text{};                           ///< in Jinja
  std::map<std::string, std::string> tokens{};  ///< special ones, by names such as "bos_token"
  friend bool operator==(const stored_template&, const stored_template&) = default;
};

/// How a workload names a template: by its name, or by what is written around the messages of each role. Neither: that
/// of the checkpoint. with_stored() (stored_template.hpp) looks it up.
struct template_choice {
  std::string name{};
  std::map<std::string, role_marks> roles{};  ///< without a name
  std::optional<stored_template> stored{};    ///< of the name "checkpoint"
  friend bool operator==(const template_choice&, const template_choice&) = default;
};

/// The texts of a tokenizer's special tokens; empty: it has none. `before`: what it puts before a text.
struct chat_marks {
  std::string begin_of_text, end_of_text, before;
};
chat_marks marks_of(const tokenizer& by);

/// For `who`, which does not write it. Throws fault_error{bad_input} with the first message that has some.
void require_no_reasoning(const conversation& c, std::string_view who);

class stored_chat;

/// The checkpoint's own, and named ones. These are those of the models' own tokenizer_config.json, as transformers'
/// apply_chat_template renders them without tools and without a generation prompt: chatml (ChatML's usual form),
/// llama-3 (Llama 3 Instruct), mistral (7B Instruct v0.2), gemma (Gemma 2, and Gemma 3 where there is a system
/// message), qwen (Qwen2.5, whose default system message is written where there is none).
class chat_template {
 public:
  /// `by` is used as long as it lives. Throws fault_error{bad_input} for a name that is not known, if the tokenizer
  /// lacks tokens that the template of this name writes, with all of them, and for a checkpoint's that Hydra cannot
  /// read.
  chat_template(template_choice choice, const tokenizer& by);

  /// Throws fault_error{bad_input} for a conversation that it cannot write: an unknown role, roles that do not
  /// alternate where they must, reasoning apart from a content.
  std::vector<chat_piece> render(const conversation& c) const;

  /// With what precedes the assistant's next message. Throws as render() does.
  std::string prompt(const conversation& c) const;

  /// The token that ends what an assistant says. Of a template that is given by roles: the assistant's suffix, apart
  /// from white space around it, if that is one token of several characters. Empty: there is none, or the tokenizer
  /// does not have it.
  std::optional<std::uint32_t> end_of_turn() const;

  /// Whether the text has all that transformers' apply_chat_template gives it: no token is put before it.
  bool is_whole() const { return stored_ != nullptr; }

  static constexpr const char* of_checkpoint = "checkpoint";
  /// Apart from that.
  static const std::vector<std::string>& names();
  static std::vector<std::string> choices();  ///< with it
  /// The special tokens that the named template writes, apart from begin and end of text; the last one ends a message.
  static const std::vector<std::string>& tokens_of(const std::string& name);
  /// What a named one writes of two short conversations, one of them with a system message.
  static std::string example_of(const std::string& name, const chat_marks& marks);
  /// Throws fault_error{bad_input} for a name that is not known, with the nearest.
  static void require_known(const std::string& name);

 private:
  template_choice choice_;
  const tokenizer& by_;
  chat_marks marks_;
  std::shared_ptr<const stored_chat> stored_{};  ///< null: it is a named one, or by roles
};

}  // namespace hydra
