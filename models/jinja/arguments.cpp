#include "models/jinja/arguments.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra::jinja {

const value* arguments::at(std::size_t place, std::string_view name) const {
  if (place < plain.size()) return &plain[place];
  return name.empty() ? nullptr : find(named, name);
}

const value& arguments::need(std::size_t place, std::string_view name) const {
  const value* const v = at(place, name);
  if (!v) complain(fmt::format("{}: argument {} is missing", of, place + 1));
  return *v;
}

const std::string& arguments::need_text(std::size_t place, std::string_view name) const {
  const value& v = need(place, name);
  if (!v.string()) complain(fmt::format("{}: argument {} is {}, expected a text", of, place + 1, kind_of(v)));
  return *v.string();
}

std::int64_t arguments::integer(std::size_t place, std::string_view name, std::int64_t usual) const {
  const value* const v = at(place, name);
  if (!v) return usual;
  if (!v->as<std::int64_t>())
    complain(fmt::format("{}: argument {} is {}, expected an integer", of, place + 1, kind_of(*v)));
  return *v->as<std::int64_t>();
}

bool arguments::flag(std::size_t place, std::string_view name) const {
  const value* const v = at(place, name);
  return v && truth(*v);
}

void arguments::only(std::size_t most, std::initializer_list<std::string_view> names) const {
  if (plain.size() > most)
    complain(fmt::format("{} has {} arguments, at most {} are supported", of, plain.size(), most));
  for (const auto& [name, v] : named)
    if (std::ranges::find(names, name) == names.end())
      complain(fmt::format("{}: the argument \"{}\" is not supported", of, shown(name)));
}

value arguments::text(std::string made) const {
  limits.take_bytes(made.size());
  return {std::move(made)};
}

}  // namespace hydra::jinja
