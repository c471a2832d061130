#pragma once
// Options of a family, complete and of the right types.

#include "models/families/catalog.hpp"

#include <map>
#include <string>
#include <variant>

namespace hydra {

using option_map = std::map<std::string, option_value>;

template <class T>
T get(const option_map& options, const char* name) {
  return std::get<T>(options.at(name));
}

}  // namespace hydra
