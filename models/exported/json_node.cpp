#include "models/exported/json_node.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace hydra {

void json_node::refuse(std::string_view why) const { hydra::refuse(fmt::format("{}: {}", place_, why)); }

bool json_node::is_null() const { return is_->is_null(); }
bool json_node::is_text() const { return is_->is_string(); }
bool json_node::is_list() const { return is_->is_array(); }
bool json_node::is_integer() const { return is_->is_number_integer(); }

std::string json_node::text() const {
  if (!is_->is_string()) refuse("is not text");
  return is_->get<std::string>();
}

std::int64_t json_node::integer() const {
  const bool fits = is_->is_number_integer() &&
                    (!is_->is_number_unsigned() || std::in_range<std::int64_t>(is_->get<std::uint64_t>()));
  if (!fits) refuse("is not an integer of 64 bits");
  return is_->get<std::int64_t>();
}

double json_node::real() const {
  if (!is_->is_number()) refuse("is not a number");
  return is_->get<double>();
}

bool json_node::boolean() const {
  if (!is_->is_boolean()) refuse("is neither true nor false");
  return is_->get<bool>();
}

std::size_t json_node::size() const {
  if (!is_->is_array()) refuse("is not a list");
  return is_->size();
}

json_node json_node::at(std::size_t i) const { return {(*is_)[i], fmt::format("{}[{}]", place_, i)}; }

bool json_node::has(const char* member) const {
  if (!is_->is_object()) refuse("is not an object");
  return is_->contains(member);
}

json_node json_node::member(const char* name) const {
  if (!has(name)) refuse(fmt::format("\"{}\" is missing", name));
  return {(*is_)[name], place_.empty() ? name : fmt::format("{}: {}", place_, name)};
}

void json_node::allow(std::initializer_list<std::string_view> members) const {
  if (!is_->is_object()) refuse("is not an object");
  for (const auto& [name, value] : is_->items())
    if (std::ranges::find(members, name) == members.end())
      refuse(fmt::format("there is no field \"{}\" here", shown(name)));
}

std::string json_node::only_member() const {
  if (!is_->is_object() || is_->size() != 1) refuse("is not an object of one member");
  return is_->begin().key();
}

}  // namespace hydra
