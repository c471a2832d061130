#pragma once
// What ids depend on in addition to a tokenizer's files.

#include <string>

namespace hydra {

/// The version of Hydra's own rules and those of the libraries for Unicode: "rules 3, utf8proc 2.9.0 of Unicode 15.1.0,
/// PCRE2 10.42". A change that gives other ids for some text increments the number of the rules.
std::string tokenizer_rules();

}  // namespace hydra
