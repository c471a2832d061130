#pragma once
// What a filter, a test, a method or a function is called with.

#include "models/jinja/budget.hpp"
#include "models/jinja/value.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hydra::jinja {

struct arguments {
  std::string_view of;  ///< whom they are for, in messages
  value_list plain;
  value_map named;
  budget& limits;

  /// The one at a place, or of a name; null if it is not given.
  const value* at(std::size_t place, std::string_view name = "") const;
  /// Throw complaint: missing, or of another kind.
  const value& need(std::size_t place, std::string_view name = "") const;
  const std::string& need_text(std::size_t place, std::string_view name = "") const;
  std::int64_t integer(std::size_t place, std::string_view name, std::int64_t usual) const;
  bool flag(std::size_t place, std::string_view name) const;  ///< false if it is not given

  /// Throws complaint if there are more, or others of a name.
  void only(std::size_t most, std::initializer_list<std::string_view> names = {}) const;

  value text(std::string made) const;  ///< as a value that the limits know
};

}  // namespace hydra::jinja
