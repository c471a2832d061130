#pragma once
// Jinja's filters: what stands behind |.

#include "models/jinja/arguments.hpp"

#include <span>
#include <string>
#include <string_view>

namespace hydra::jinja {

using filter_function = value (*)(const value& of, const arguments& with);

filter_function find_filter(std::string_view name);  ///< null if it is not known
std::span<const std::string> filter_names();

/// What a loop goes through: items, keys, or code points; nothing of what is not defined. Throws complaint for others.
value_list items_of(const value& v, budget& limits);

/// Jinja's `of.name`, where that is not a method: of a mapping, a namespace, a loop.
value attribute_of(const value& of, const std::string& name);
/// `of[key]`
value item_of(const value& of, const value& key, budget& limits);

/// Items as [key, value].
value pairs_of(const value_map& entries, budget& limits);

}  // namespace hydra::jinja
