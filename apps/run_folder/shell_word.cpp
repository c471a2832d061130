#include "apps/run_folder/shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace hydra::apps {

namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view{"_-+./:=,@%"}.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + "'";
}

}  // namespace hydra::apps
