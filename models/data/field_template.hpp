#pragma once
// A text made of fields of a record.

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct line_site;

/// "NAME" is the field of that name. In a text with braces each "{NAME}" is one, and the rest stands as it is:
/// "{instruction}\n{input?}\n". "{NAME?}" is empty where the record does not have the field, or has null. "{{" and "}}"
/// are braces.
class field_template {
 public:
  field_template() = default;  ///< of no field: an empty text
  /// Throws fault_error{bad_input}: a brace without its other one, braces without a name, no field at all.
  explicit field_template(std::string_view text);

  /// Throws as text_field() does, for a field that is missing, null or no text.
  std::string of(const nlohmann::json& record, const line_site& site) const;
  /// Whether the record has all fields that are not optional, and none of them is null or empty.
  bool filled_by(const nlohmann::json& record) const;
  std::vector<std::string> fields() const;
  bool empty() const noexcept { return parts_.empty(); }

 private:
  struct part {
    std::string text;  ///< or the field's name
    bool field = false, optional = false;
  };

  /// Both return how much of the text they have taken.
  std::size_t add_text(std::string_view text);
  std::size_t add_brace(std::string_view text);
  void add_field(std::string_view name);

  std::vector<part> parts_;
  bool plain_ = false;  ///< a name alone
};

}  // namespace hydra
