#pragma once
// Mapping between the labels in data and classes 0..n-1.

#include "models/data/data_options.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hydra {

/// The labels of a file with the line of their first occurrence. Integers before texts, each sorted.
using label_census = std::map<class_label, std::size_t>;

/// "7" is an integer; "seven" and "07" are texts.
class_label label_from(std::string_view text);
/// For messages: 7, "seven".
std::string to_string(const class_label& label);

/// Throws fault_error{bad_input} with file and line if the text "" was found: an empty cell.
void refuse_empty_label(const label_census& found, const std::filesystem::path& file);

/// Thread-safe because const.
class class_names {
 public:
  class_names() = default;
  /// `given` in its order, else the labels that were found. Throws fault_error{bad_input} naming `file` if there are
  /// fewer than two, or if one is given twice.
  class_names(const std::vector<class_label>& given, const label_census& found, const std::filesystem::path& file);

  /// Throws fault_error{bad_input} with file, line and the known labels if a label that was found is not known.
  void check(const label_census& found, const std::filesystem::path& file) const;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(classes_.size()); }
  /// The labels in the order of the classes; no two are equal.
  std::vector<std::string> names() const;
  /// -1 for a label that is not known.
  std::int64_t find(const class_label& label) const;

 private:
  std::string name_of(const class_label& label) const;

  std::map<class_label, std::int64_t> classes_;
};

}  // namespace hydra
