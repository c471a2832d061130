#include "models/data/record_encoding.hpp"
#include "models/data/record_words.hpp"
#include "models/tokenizers/text_frame.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {
namespace {

using token_ids = std::vector<std::uint32_t>;
using pieces = std::vector<chat_piece>;

/// Where a part of a text lies in its tokens.
struct token_range {
  std::size_t first = 0, end = 0;
};

std::string text_of(std::span<const chat_piece> parts) {
  std::string text;
  for (const chat_piece& p : parts) text += p.text;
  return text;
}

/// The answers of a text that was tokenised as a whole: a token belongs to an answer if it has a part of it.
class answer_finder {
 public:
  answer_finder(const pieces& parts, const token_ids& all, const tokenizer& by) : parts_(parts), all_(all), by_(by) {}

  std::vector<token_range> ranges() const {
    const std::vector<std::size_t> ends = ends_of_pieces();
    std::vector<token_range> found;
    std::string before;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t start = before.size();
      before += parts_[i].text;
      if (!parts_[i].answer) continue;
      found.push_back(ends.empty() ? by_prefixes(before, start) : token_range{i == 0 ? 0 : ends[i - 1], ends[i]});
    }
    return found;
  }

 private:
  /// Ends of the pieces in the tokens, if the pieces have the same tokens alone as in the whole; else empty.
  std::vector<std::size_t> ends_of_pieces() const {
    token_ids apart;
    std::vector<std::size_t> ends;
    for (const chat_piece& p : parts_) {
      by_.encode(p.text, apart);
      ends.push_back(apart.size());
    }
    return apart == all_ ? ends : std::vector<std::size_t>{};
  }

  token_range by_prefixes(std::string_view text, std::size_t start) const {
    const token_cut first = cut_after(text.substr(0, start), all_, by_), last = cut_after(text, all_, by_);
    return {first.tokens, last.tokens + (last.across ? 1 : 0)};
  }

  const pieces& parts_;
  const token_ids& all_;
  const tokenizer& by_;
};

/// Removes the first turn: from the first message that is not the system's to the next of the user. False if it is the
/// only one, or with `answered` if the assistant says nothing after it that is learnt.
bool drop_first_turn(conversation& c, bool answered) {
  const auto first = std::ranges::find_if(c, [](const chat_message& m) { return m.role != "system"; });
  if (first == c.end()) return false;
  const auto next = std::find_if(first + 1, c.end(), [](const chat_message& m) { return m.role == "user"; });
  if (next == c.end() || (answered && std::none_of(next, c.end(), is_learnt))) return false;
  c.erase(first, next);
  return true;
}

[[noreturn]] void refuse_message(const conversation& c, const chat_message& m, const std::string& why) {
  refuse(fmt::format("message {} is by \"{}\" and is marked {} (\"weight\" or \"train\"); {}", &m - c.data() + 1,
                     shown(m.role), *m.learnt ? "to be learnt" : "not to be learnt", why));
}

/// It would teach to say nothing; what precedes tool calls is refused with them.
void require_text(const conversation& c, chat_loss loss) {
  const auto first = loss == chat_loss::last ? std::find_if(c.rbegin(), c.rend(), is_learnt).base() - 1 : c.begin();
  const auto says_nothing = [](const chat_message& m) {
    return is_learnt(m) && m.content.empty() && m.reasoning.empty();
  };
  const auto found = std::find_if(first, c.end(), says_nothing);
  if (found == c.end()) return;
  refuse(
      fmt::format("message {} is the assistant's and is empty, so that nothing but its end would be learnt; remove "
                  "it, or mark it as not to be learnt (\"train\": false)",
                  found - c.begin() + 1));
}

/// What the data say of a message and what the workload says of all must not contradict each other.
void require_loss(const conversation& c, chat_loss loss) {
  const bool all = loss == chat_loss::all;
  for (const chat_message& m : c) {
    if (all && !m.learnt.value_or(true)) refuse_message(c, m, "loss_on = \"all\" learns every token");
    if (!all && !is_answer(m) && m.learnt.value_or(false))
      refuse_message(c, m, "only what the assistant says is learnt; remove the key, or choose loss_on = \"all\"");
  }
  if (all) return;
  if (std::ranges::any_of(c, is_learnt)) return require_text(c, loss);
  if (std::ranges::none_of(c, is_answer)) refuse("there is no message of the assistant, so nothing has a loss");
  refuse("no message of the assistant is to be learnt (\"weight\": 0 or \"train\": false), so nothing has a loss");
}

/// A template may write nothing of an empty answer.
void require_answer(std::span<const chat_piece> parts, chat_loss loss) {
  if (loss != chat_loss::all && std::ranges::none_of(parts, &chat_piece::answer))
    refuse("the template writes nothing that the assistant says, so nothing has a loss");
}

class chat_encoder {
 public:
  chat_encoder(std::shared_ptr<const tokenizer> by, chat_encoding_options o)
      : by_(std::move(by)), options_(std::move(o)), template_(options_.format, *by_) {}

  void encode(conversation c, const record_sink& sink) const {
    require_loss(c, options_.loss);
    std::vector<record_word> words = words_of(c);
    if (options_.window) fit(words, c, *options_.window + 1, options_.loss != chat_loss::all);
    sink(words);
  }

 private:
  void fit(std::vector<record_word>& words, conversation& c, std::size_t space, bool answered) const {
    if (words.size() <= space) return;
    while (words.size() > space && drop_first_turn(c, answered)) words = words_of(c);
    shorten(words, space, begun(words));
    words.front() |= shortened_record;
  }

  std::vector<record_word> words_of(const conversation& c) const {
    const pieces parts = template_.render(c);
    require_answer(parts, options_.loss);
    token_ids words = by_->encode(text_of(parts));
    const std::vector<token_range> counted = with_loss(parts, words);
    const std::size_t more = template_.is_whole() ? 0 : begin_text(by_->special(), words);
    for (const token_range& r : counted)
      for (std::size_t i = std::max<std::size_t>(r.first + more, 1); i < r.end + more; ++i) words[i] |= counted_word;
    return words;
  }

  /// How many tokens begin a text, as the tokenizer or the template puts them there.
  std::size_t begun(const std::vector<record_word>& words) const {
    const std::vector<std::uint32_t> before = by_->special().before;
    const auto id = [](record_word w) { return w & ~counted_word; };
    const auto first = std::span{words}.first(std::min(before.size(), words.size()));
    return std::ranges::equal(before, first, {}, {}, id) ? before.size() : 0;
  }

  std::vector<token_range> with_loss(const pieces& parts, const token_ids& words) const {
    if (options_.loss == chat_loss::all) return {{0, words.size()}};
    std::vector<token_range> answers = answer_finder{parts, words, *by_}.ranges();
    if (options_.loss == chat_loss::last) answers.erase(answers.begin(), answers.end() - 1);
    return answers;
  }

  std::shared_ptr<const tokenizer> by_;
  chat_encoding_options options_;
  chat_template template_;
};

/// Of all that the texts depend on.
std::string digest_of(const stored_template& t) {
  sha256 hash;
  const auto add = [&](std::string_view text) { hash.add(std::as_bytes(std::span{text})); };
  add(t.text);
  for (const auto& [name, token] : t.tokens) add(fmt::format("\n{:?} {:?}", name, token));
  return "sha256:" + hash.finish();
}

/// To be raised where stored_chat finds other answers in a text than it did.
constexpr int answer_rules = 2;

std::string key_of(const chat_encoding_options& o) {
  std::string key = fmt::format("chat, template \"{}\", loss {}, window {}", o.format.name, static_cast<int>(o.loss),
                                o.window ? std::to_string(*o.window) : "none");
  for (const auto& [role, marks] : o.format.roles)
    key += fmt::format(", {:?} {:?} {:?}", role, marks.prefix, marks.suffix);
  if (o.format.stored) key += fmt::format(", answers {}, {}", answer_rules, digest_of(*o.format.stored));
  return key;
}

}  // namespace

record_test chat_test(const template_choice& format, const tokenizer& by, chat_loss loss) {
  return [writer = chat_template{format, by}, loss](const text_record& r) {
    const pieces parts = writer.render(r.turns);
    require_loss(r.turns, loss);
    require_answer(parts, loss);
  };
}

record_encoding chat_encoding(std::shared_ptr<const tokenizer> by, chat_encoding_options options) {
  const chat_encoder encoder{std::move(by), options};
  return {key_of(options), [encoder](const text_record& r, const record_sink& sink) { encoder.encode(r.turns, sink); }};
}

}  // namespace hydra
