#include "models/data/answer_end.hpp"

#include "models/data/stored_chat.hpp"
#include "models/tokenizers/file_tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace hydra {
namespace {

/// What a template writes behind the content of an answer.
struct written_end {
  std::string text, learnt;
};

std::string behind_answer(const std::string& text) {
  const auto at = text.rfind(stand_in);
  if (at == text.npos) refuse("what is learnt of a short conversation lacks what the assistant says");
  return text.substr(at + stand_in.size());
}

/// A table may have no marks for a user.
written_end end_by(const chat_template& writer, const template_choice& format, chat_loss loss) {
  conversation talk{{"assistant", std::string{stand_in}}};
  if (format.roles.empty()) talk.insert(talk.begin(), {"user", "?"});
  std::string text, learnt;
  for (const chat_piece& p : writer.render(talk)) {
    text += p.text;
    if (p.answer || loss == chat_loss::all) learnt += p.text;
  }
  return {behind_answer(text), behind_answer(learnt)};
}

/// A text may have the characters of a token without becoming that token.
bool has_token(const std::string& text, std::uint32_t token, const tokenizer& by) {
  const std::vector<std::uint32_t> ids = by.encode(text);
  return std::ranges::find(ids, token) != ids.end();
}

std::string why_endless(const written_end& end, bool has_end, const std::string& writer, const tokenizer& by) {
  if (!dynamic_cast<const file_tokenizer*>(&by))
    return fmt::format(
        "{} has no special tokens; choose another, and a template that writes one of its special tokens behind an "
        "answer",
        by.describe());
  const std::string_view line = trimmed(end.text), mark = trimmed(line.substr(0, line.find('\n')));
  if (mark.size() < 2)  // "." and the like end no text, wherever they are written
    return fmt::format(
        "{} writes {} behind it; choose another template, or a table in which a special token is what follows the "
        "assistant's messages",
        writer, mark.empty() ? "nothing but white space" : fmt::format("only \"{}\"", shown(mark)));
  if (has_end)
    return fmt::format(
        "the {{% generation %}} marks of {} leave out \"{}\" behind it; write {{% endgeneration %}} "
        "after that, or choose another template",
        writer, shown(mark));
  return fmt::format(
      "{} writes \"{}\" behind it, which the tokenizer does not read as one special token; add it to "
      "those of the checkpoint, chain = {{ from = \"...\", tokens = [\"{}\"] }}, or choose another "
      "template",
      writer, shown(mark), shown(mark));
}

}  // namespace

std::optional<std::string> note_on_answer_end(const std::string& name, const template_choice& format, chat_loss loss,
                                              const tokenizer& by) {
  const chat_template writer{format, by};
  const auto token = writer.end_of_turn();
  try {
    const written_end end = end_by(writer, format, loss);
    if (token && has_token(end.learnt, *token, by)) return std::nullopt;
    const bool has_end = token && has_token(end.text, *token, by);
    return fmt::format("{}: no token ends an answer, so that `hydra generate --chat` goes on behind it: {}", name,
                       why_endless(end, has_end, format.stored ? format.stored->file.string() : "`template`", by));
  } catch (const fault_error& e) {
    return fmt::format("{}: whether a token ends an answer is not known: {}", name, e.what_happened().text);
  }
}

}  // namespace hydra
