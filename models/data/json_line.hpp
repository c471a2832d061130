#pragma once
// One record of a JSON file: a line, or an element of an array, with errors that name it.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace hydra {

/// A line of a file, or an element of the array that it is, for messages.
struct line_site {
  const std::filesystem::path& file;
  std::size_t number;
  bool of_array = false;

  /// "FILE:NUMBER", "FILE: record NUMBER".
  std::string text() const;
  /// Throws fault_error{bad_input}: "FILE:NUMBER: what".
  [[noreturn]] void refuse(const std::string& what) const;
};

/// A record in memory takes several times its bytes.
inline constexpr std::size_t most_of_a_record = std::size_t{256} << 20;

struct parsed_object {
  nlohmann::json object;
  bool not_finite = false;  ///< it had NaN or Infinity, which are null now
};

/// All throw as line_site::refuse does: more than most_of_a_record bytes, not UTF-8, not a JSON object; a field that is
/// missing (with those that there are) or of another type. NaN, Infinity and -Infinity are not JSON, but Python's json
/// and pandas write them: they are read as null.
parsed_object parse_object(std::string_view line, const line_site& site);
const nlohmann::json& field(const nlohmann::json& object, const std::string& name, const line_site& site);
/// What follows "there is no NAME": the fields that there are, and one with a similar name.
std::string other_fields(const nlohmann::json& object, const std::string& name);
/// For messages: "a", "b".
std::string quoted_fields(const nlohmann::json& object);
std::string text_field(const nlohmann::json& object, const std::string& name, const line_site& site);

}  // namespace hydra
