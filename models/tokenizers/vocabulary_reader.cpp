#include "models/tokenizers/vocabulary_reader.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/unicode.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace hydra {

namespace {

using json = nlohmann::json;
using place_name = std::function<std::string()>;

/// Calls `line(text, number)` for each line, without its end; numbers start from 0.
void each_line(std::string_view text, const std::function<void(std::string_view, std::size_t)>& line) {
  for (std::size_t number = 0; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view content = text.substr(0, end);
    if (content.ends_with('\r')) content.remove_suffix(1);
    line(content, number);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string_view without_space_at_end(std::string_view text) {
  while (!text.empty() && is_white_space(last_code_point(text).value)) text.remove_suffix(last_code_point(text).length);
  return text;
}

/// Adds merges of ascending rank.
class merge_adder {
 public:
  merge_adder(const token_table& tokens, std::string_view file, std::size_t rules)
      : tokens_{tokens}, file_{file}, table_{rules} {}

  void add(std::string_view left, std::string_view right, const place_name& place) {
    const std::string both = fmt::format("{}{}", left, right);
    const std::uint32_t first = id_of(left, place), second = id_of(right, place);
    table_.add(first, second, {rank_++, id_of(both, place)});
  }

  /// "left right".
  void add(std::string_view written, const place_name& place) {
    const std::size_t blank = written.find(' ');
    if (blank == std::string_view::npos || written.find(' ', blank + 1) != std::string_view::npos)
      refuse_file(file_, place(), fmt::format("{} is not two tokens with a blank between", in_quotes(written)));
    add(written.substr(0, blank), written.substr(blank + 1), place);
  }

  merge_table table() { return std::move(table_); }

 private:
  std::uint32_t id_of(std::string_view token, const place_name& place) const {
    const auto id = tokens_.find(token);
    if (!id) refuse_file(file_, place(), fmt::format("{} is not in the vocabulary", in_quotes(token)));
    return *id;
  }

  const token_table& tokens_;
  std::string_view file_;
  merge_table table_;
  std::uint32_t rank_ = 0;
};

}  // namespace

token_table read_vocabulary(const json& vocabulary, std::string_view file, std::string_view place) {
  if (!vocabulary.is_object() || vocabulary.empty()) refuse_file(file, place, "is not a table of tokens and their ids");
  token_table tokens;
  for (const auto& [token, id] : vocabulary.items()) {
    const auto refuse = [&, &text = token](const std::string& why) {
      refuse_file(file, fmt::format("{}: {}", place, in_quotes(text)), why);
    };
    if (!id.is_number_unsigned()) refuse("its id is not an integer from 0 on");
    if (const auto complaint = tokens.add(token, id.get<std::uint64_t>())) refuse(*complaint);
  }
  return tokens;
}

token_table read_vocabulary_lines(std::string_view text, std::string_view file) {
  token_table tokens;
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::string token{without_space_at_end(line)};
    const std::string place = fmt::format("line {}", number + 1);
    if (tokens.find(token)) refuse_file(file, place, fmt::format("{} is there already", in_quotes(token)));
    if (const auto complaint = tokens.add(token, number)) refuse_file(file, place, *complaint);
  });
  if (tokens.size() == 0) refuse_file(file, "line 1", "there is no token");
  return tokens;
}

merge_table read_merges(const json& merges, const token_table& tokens, std::string_view file) {
  if (!merges.is_array()) refuse_file(file, "model.merges", "is not a list");
  merge_adder adder{tokens, file, merges.size()};
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const json& m = merges[i];
    const auto place = [i] { return fmt::format("model.merges[{}]", i); };
    const bool pair = m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string();
    if (!pair && !m.is_string()) refuse_file(file, place(), "is neither \"left right\" nor a list of two tokens");
    if (pair)
      adder.add(m[0].get_ref<const std::string&>(), m[1].get_ref<const std::string&>(), place);
    else
      adder.add(m.get_ref<const std::string&>(), place);
  }
  return adder.table();
}

merge_table read_merge_lines(std::string_view text, const token_table& tokens, std::string_view file) {
  merge_adder adder{tokens, file, static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1};
  each_line(text, [&](std::string_view line, std::size_t number) {
    if (number == 0 && line.starts_with("#version")) return;
    adder.add(line, [number] { return fmt::format("line {}", number + 1); });
  });
  return adder.table();
}

}  // namespace hydra
