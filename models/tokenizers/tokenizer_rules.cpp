#include "models/tokenizers/tokenizer_rules.hpp"

#include <fmt/format.h>

#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

namespace hydra {

namespace {

constexpr int own_rules = 4;

std::string pcre2_version() {
  std::array<char, 64> text{};  // the library requires at least 24
  pcre2_config(PCRE2_CONFIG_VERSION, text.data());
  return text.data();
}

}  // namespace

std::string tokenizer_rules() {
  return fmt::format("rules {}, utf8proc {} of Unicode {}, PCRE2 {}", own_rules, utf8proc_version(),
                     utf8proc_unicode_version(), pcre2_version());
}

}  // namespace hydra
