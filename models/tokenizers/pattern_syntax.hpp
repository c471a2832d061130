#pragma once
// From the syntax of a tokenizer.json's patterns to that of PCRE2.

#include <string>

namespace hydra {

/// tokenizer.json means patterns as Oniguruma (Ruby's syntax) reads them, without its dialects: \s, \d, \w become properties
/// (PCRE2's \s has U+180E, its \w no marks), scripts are asked for as such. Throws fault_error{bad_input} for what PCRE2
/// would read in another way or not at all.
std::string to_pcre2(const std::string& pattern);

}  // namespace hydra
