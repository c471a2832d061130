#pragma once
// A value of a JSON file that knows where it stands: "layers[3]: calls[5] (aten::linear): args[1]".

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// Refers to the value, which outlives it. What does not suit is refused by fault_error{bad_input} that begins with the
/// place.
class json_node {
 public:
  json_node(const nlohmann::json& is, std::string place) : is_{&is}, place_{std::move(place)} {}

  [[noreturn]] void refuse(std::string_view why) const;

  bool is_null() const;
  bool is_text() const;
  bool is_list() const;
  bool is_integer() const;

  std::string text() const;
  /// Of 64 bits.
  std::int64_t integer() const;
  double real() const;
  bool boolean() const;

  std::size_t size() const;  ///< of a list
  json_node at(std::size_t i) const;

  bool has(const char* member) const;  ///< of an object
  json_node member(const char* name) const;
  /// Refuses any other member.
  void allow(std::initializer_list<std::string_view> members) const;
  /// The name of the only member of an object.
  std::string only_member() const;
  const nlohmann::json& json() const { return *is_; }

  /// With an addition to its place, for people.
  json_node called(const std::string& name) const { return {*is_, place_ + " (" + name + ")"}; }
  const std::string& place() const { return place_; }

 private:
  const nlohmann::json* is_;
  std::string place_;
};

}  // namespace hydra
