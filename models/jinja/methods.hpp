#pragma once
// Python's methods of texts, mappings and lists that templates call, and the functions that every template has.

#include "models/jinja/arguments.hpp"

#include <string_view>

namespace hydra::jinja {

/// Null if values of this kind have none of that name.
using method_function = value (*)(const value& of, const arguments& with);
method_function find_method(const value& of, std::string_view name);

/// namespace, range, dict and raise_exception; null for others.
value::function find_function(std::string_view name);

/// What a call of strftime_now writes: 26 Jul 2024, as Llama's templates do. It is not defined, so that a template that
/// asks writes a date of its own. With that of today every day would be another training, and no run could be continued
/// as it was.
value date_text(const arguments& with);

}  // namespace hydra::jinja
