#pragma once
// A template as a tree.

#include "models/jinja/value.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra::jinja {

enum class operation : std::uint8_t {
  constant,   ///< `is`
  name,       ///< `text`
  list,       ///< `parts`
  tuple,      ///< `parts`
  map,        ///< keys and values in turn
  attribute,  ///< `text` of parts[0]
  item,       ///< parts[1] of parts[0]
  slice,      ///< of parts[0], from, to, step, each of which may be null
  call,       ///< of parts[0], with the others and `named`
  filter,     ///< `text` of parts[0], with the others and `named`
  check,      ///< Jinja's test `text` of parts[0], with the others
  negate,
  plus,
  no,  ///< `not`
  both,
  either,
  sum,
  difference,
  product,
  quotient,
  whole_quotient,
  remainder,
  power,
  joined,     ///< ~
  compare,    ///< parts[i] `signs[i]` parts[i + 1]
  condition,  ///< parts[1] if parts[0] else parts[2], which may be null
};

struct expression;
using expression_ptr = std::unique_ptr<const expression>;

struct expression {
  operation does = operation::constant;
  std::size_t line = 0;
  std::string text{};
  value is{};
  std::vector<expression_ptr> parts{};
  std::vector<std::pair<std::string, expression_ptr>> named{};
  std::vector<std::string> signs{};
  int depth = 1;
};

struct statement;
using block = std::vector<statement>;

enum class action : std::uint8_t {
  write,       ///< `text`
  print,       ///< parts[0]
  choose,      ///< bodies[i] if parts[i]; a last body without a part is else
  loop,        ///< `names` of parts[0], where parts[1], which may be null; bodies[1] if there is none of them
  set,         ///< `names`, or the attribute `text` of names[0], to parts[0]
  set_block,   ///< the same to what bodies[0] writes
  define,      ///< the macro `text` of `names`, the last of which have `parts` if they are not given
  generation,  ///< bodies[0], which an assistant writes
  leave,       ///< break
  next,        ///< continue
};

struct statement {
  action does = action::write;
  std::size_t line = 0;
  std::string text{};
  std::vector<std::string> names{};
  std::vector<expression_ptr> parts{};
  std::vector<block> bodies{};
};

}  // namespace hydra::jinja
