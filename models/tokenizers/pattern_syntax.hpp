#pragma once
// Translation of a tokenizer.json's patterns to PCRE2's syntax.

#include <string>

namespace hydra {

/// Patterns of a tokenizer.json have Oniguruma's syntax (Ruby's), without its dialects: \s, \d, \w become properties
/// (PCRE2's \s has U+180E, its \w no marks), scripts become script properties. Throws fault_error{bad_input} for what
/// PCRE2 would interpret differently or not at all.
std::string to_pcre2(const std::string& pattern);

}  // namespace hydra
