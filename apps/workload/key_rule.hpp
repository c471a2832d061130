#pragma once
// What a key of the workload file may hold, as data: checked by check.hpp, resolved by grid.hpp, printed by
// `hydra devices` and `hydra families`.

#include "runtime/base/option.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

enum class value_kind {
  boolean,
  boolean_or_auto,  ///< true, false, or "auto"
  integer,
  integer_or_auto,  ///< an integer, or "auto"
  real,             ///< an integer is accepted, too
  text,             ///< not empty; one of `choices` if there are any
  bytes,            ///< "24MiB", or a number of bytes
  bytes_or_percent,
  rate,           ///< "1GiB/s"
  time,           ///< "5ms"
  file,           ///< path of a readable file
  files,          ///< path of a readable file, a pattern of such, or a list of both
  folder,         ///< path of a folder
  paths,          ///< path of a readable file or a folder, or a list of such
  tokenizer,      ///< "bytes", { file } or { vocab, merges }
  chat_template,  ///< one of `choices`, or { ROLE = [prefix, suffix], ... }
  field_text,     ///< the name of a field, or a text with fields (field_template.hpp)
  text_list,      ///< of texts that are not empty
  label_list,     ///< of texts or integers, two or more
  policy,         ///< a text, or a table of a `name` and numbers
  number_pair,    ///< [0.9, 0.999]
  number_list,    ///< of one number or more
  image_size,     ///< [height, width]
  image_shape,    ///< [channels, height, width]
  cut_list,       ///< one of `choices`, a list of layer numbers, or a readable file
  table,          ///< one table with `inner` rules
  table_list,     ///< [[key]], each with `inner` rules
  named_tables,   ///< [key.NAME], each with `inner` rules
  grid,           ///< lists of values by key; gone when the file is checked
  space,          ///< distributions by key
};

/// The text that leaves a value to the planner.
inline constexpr const char* automatic = "auto";

struct table_rules;

struct key_rule {
  std::string name{};
  value_kind kind = value_kind::text;
  std::string help{};
  bool required = false;
  std::string fallback{};              ///< the default: a value of the key (a text that is not a choice in quotes),
                                       ///< or words for people
  bool may_change = false;             ///< when a run is resumed, with all that is in it
  number_range range{};                ///< of numbers
  std::vector<std::string> choices{};  ///< of texts; empty = any
  std::vector<table_rules> inner{};    ///< of table kinds: exactly one
};

/// Further keys that a table takes for one value of its selector: `momentum` if `kind` is "sgd".
struct table_variant {
  std::string name{};
  std::vector<key_rule> keys{};
};

/// The keys of a table. `selector` names a text key of `keys` whose value picks the variant; without that key its
/// `fallback` picks. A table may have the key `instead` in place of the selector: it picks the variant of its own name,
/// to which it belongs.
struct table_rules {
  std::vector<key_rule> keys{};
  std::string selector{};
  std::vector<table_variant> variants{};
  std::string instead{};

  const key_rule* find(std::string_view key) const;  ///< among `keys`
  const table_variant* variant(std::string_view name) const;
};

/// The rule of a key of a table that has chosen `variant` (null: none); null if it takes no such key.
const key_rule* find_rule(const table_rules& rules, const table_variant* variant, std::string_view key);

/// "an integer of at least 1", "one of \"constant\", \"linear\"", "a size such as \"24MiB\"".
std::string describe(const key_rule& rule);

std::vector<std::string> names_of(const std::vector<key_rule>& rules);

/// Keys without choices; a plain one has no range, either.
key_rule plain_rule(std::string name, value_kind kind, std::string fallback, std::string help);
key_rule integer_rule(std::string name, number_range range, std::string fallback, std::string help);
key_rule real_rule(std::string name, number_range range, std::string fallback, std::string help);
key_rule switch_rule(std::string name, std::string fallback, std::string help);
key_rule table_rule(std::string name, table_rules inner, std::string help);

/// The key that picks a variant. Its choices are the variants' names.
key_rule selector_rule(std::string name, const std::vector<table_variant>& variants, std::string fallback);

key_rule required(key_rule rule);
/// May change when a run is resumed.
key_rule changeable(key_rule rule);

}  // namespace hydra::apps
