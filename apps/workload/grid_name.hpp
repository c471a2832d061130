#pragma once
// Names of the models that a grid or a search makes.

#include "apps/workload/value.hpp"

#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

/// One chosen value: the key as the grid or the search spells it, its dotted path, the value.
struct grid_choice {
  std::string key;
  std::string path;
  value is;
};

/// "gpt-{learning_rate}" -> "gpt-3e-4"; "gpt" -> "gpt-8-3e-4". A `{key}` may be the grid's spelling, the dotted path or
/// its last part. Throws fault_error{bad_input} for other texts in braces.
std::string grid_name(const value& name, const std::vector<grid_choice>& choices);

/// A value as it is written in a name: numbers as written, texts bare, the parts of a list joined by "-".
std::string name_part(const value& v);

}  // namespace hydra::apps
