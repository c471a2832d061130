#include "apps/workload/other_tools.hpp"

#include "runtime/base/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hydra::apps {

namespace {

/// In small letters, with "_", without dashes before it.
std::string plain_word(std::string_view written) {
  std::string word{written.substr(std::min(written.find_first_not_of('-'), written.size()))};
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return c == '-' ? '_' : std::tolower(c); });
  return word;
}

/// "data.NAME.kind" for any name.
std::string any_name(std::string_view key) {
  if (!key.starts_with("data.")) return std::string{key};
  return fmt::format("data.NAME.{}", key.substr(key.rfind('.') + 1));
}

/// "cuda:n" for any number.
std::string any_number(std::string word) {
  const std::size_t colon = word.find(':');
  const bool numbered = colon != std::string::npos && is_digits(std::string_view{word}.substr(colon + 1));
  return numbered ? word.replace(colon + 1, std::string::npos, "n") : word;
}

std::string told(const std::string& here, std::string_view note) {
  return here.empty() ? std::string{note} : fmt::format("here it is {}{}{}", here, note.empty() ? "" : ": ", note);
}

}  // namespace

const other_word* find_other_word(std::string_view written) {
  const auto all = other_words();
  const auto found = std::ranges::find(all, plain_word(written), &other_word::word);
  return found == all.end() ? nullptr : &*found;
}

const other_value* find_other_value(std::string_view key, std::string_view written) {
  const std::string any = any_name(key), word = any_number(plain_word(written.substr(written.rfind('.') + 1)));
  const auto all = other_values();
  const auto found = std::ranges::find_if(all, [&](const other_value& v) { return v.key == any && v.value == word; });
  return found == all.end() ? nullptr : &*found;
}

std::string describe(const other_word& word) { return told(std::string{word.key}, word.note); }

std::string describe(const other_value& value) {
  return told(value.here.empty() ? "" : fmt::format("\"{}\"", value.here), value.note);
}

}  // namespace hydra::apps
