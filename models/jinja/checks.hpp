#pragma once
// Jinja's tests: what stands behind `is`.

#include "models/jinja/arguments.hpp"

#include <span>
#include <string>
#include <string_view>

namespace hydra::jinja {

using check_function = bool (*)(const value& of, const arguments& with);

check_function find_check(std::string_view name);  ///< null if it is not known
std::span<const std::string> check_names();

bool contains(const value& all, const value& one, budget& limits);  ///< Python's `in`

}  // namespace hydra::jinja
