#pragma once
// What the settings of other training programs are called here, as data: transformers, TRL, PEFT, LLaMA-Factory,
// torchtune, axolotl and Lightning. To add one: a line of other_words.cpp, in its place; tests say whether its key
// exists.

#include <span>
#include <string_view>

namespace hydra::apps {

struct other_word {
  std::string_view word;  ///< in small letters, with "_"
  std::string_view key;   ///< as --set takes it; of data "data.NAME.key"; empty: there is no such key
  std::string_view note;  ///< how it differs; without a key what to do instead
};

/// A value of one of Hydra's keys.
struct other_value {
  std::string_view key;    ///< as --set takes it
  std::string_view value;  ///< in small letters, with "_"
  std::string_view here;   ///< empty: there is no such value
  std::string_view note;   ///< how it differs; without a value what to do instead
};

std::span<const other_word> other_words();    ///< sorted by their words
std::span<const other_value> other_values();  ///< sorted by key and value

}  // namespace hydra::apps
