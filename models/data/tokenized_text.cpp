#include "models/data/tokenized_text.hpp"

#include "models/data/file_looks.hpp"
#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/tokenizer_rules.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/utf8.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hydra {
namespace {

constexpr std::size_t piece = std::size_t{4} << 20;

/// ASCII and not white space: other characters are not classified.
constexpr bool is_word(char c) noexcept { return c > ' ' && c < '\x7f'; }

bool is_cut(std::string_view text, std::size_t at) noexcept {
  if (text[at - 1] != '\n') return false;
  const bool between_words = is_word(text[at - 2]) && is_word(text[at]);
  return between_words || (text[at] == ' ' && is_word(text[at + 1]));
}

bool has_wide_tokens(const tokenizer& by) {
  const auto* const file = dynamic_cast<const file_tokenizer*>(&by);
  return file && file->joins_lines();
}

/// Whether the ids of lines are the ids of the text, on examples of each kind of cut.
bool separates_lines(const tokenizer& by) try {
  if (has_wide_tokens(by)) return false;
  constexpr std::array<std::array<std::string_view, 2>, 5> lines{
      {{"ab\n", "cd"}, {".\n", "(Word)"}, {"1\n", "2"}, {"ab \n", " = cd"}, {"ab.\n\n", " cd"}}};
  return std::ranges::all_of(lines, [&](const auto& pair) {
    std::vector<std::uint32_t> apart = by.encode(pair[0]);
    by.encode(pair[1], apart);
    return apart == by.encode(std::string{pair[0]} + std::string{pair[1]});
  });
} catch (const fault_error&) {  // an example has bytes without a token, which the text may not contain
  return false;
}

std::string_view text_in(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

std::string digest_of(const mapped_file& file) {
  sha256 hash;
  hash.add(file.bytes());
  return "sha256:" + hash.finish();
}

std::shared_ptr<const mapped_file> map_text(const std::filesystem::path& text) {
  auto file = std::make_shared<const mapped_file>(text);
  refuse_utf16(text, file->bytes());
  if (const std::string why = utf8_complaint(file->bytes()); !why.empty()) refuse(text, why);
  return file;
}

std::size_t line_cut(std::string_view text, std::size_t least) noexcept {
  for (std::size_t at = std::max<std::size_t>(least, 2); at + 1 < text.size(); ++at)
    if (is_cut(text, at)) return at;
  return text.size();
}

void tokenize(std::string_view text, const tokenizer& by, const token_sink& sink) {
  const std::size_t least = separates_lines(by) ? piece : text.size();
  std::vector<std::uint32_t> ids;
  while (!text.empty()) {
    const std::size_t end = line_cut(text, least);
    ids.clear();
    by.encode(text.substr(0, end), ids);
    sink(ids);
    text.remove_prefix(end);
  }
}

std::string cache_key(std::string_view what, const tokenizer& by) {
  return fmt::format("{} by {} ({})", what, by.identity(), tokenizer_rules());
}

token_list tokens_of(const std::filesystem::path& text, std::shared_ptr<const tokenizer> by) {
  const auto file = map_text(text);
  return cached_tokens({cache_key("text " + digest_of(*file), *by),
                        [&](const token_sink& sink) { tokenize(text_in(*file), *by, sink); }});
}

}  // namespace hydra
