#pragma once
// The columns of a file of comma-separated values by name.

#include "models/data/csv_reader.hpp"
#include "models/data/record_check.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace hydra {

/// The header line.
class csv_columns {
 public:
  /// Throws fault_error{bad_input} naming the file if it has no records, if a name is empty or occurs twice, or if it
  /// is UTF-16 or JSON lines.
  explicit csv_columns(const csv_file_text& text);

  const std::vector<std::string>& names() const noexcept { return names_; }
  /// The index of the column. Throws fault_error{bad_input} with the nearest name if there is none.
  std::size_t find(const std::string& name) const;

  /// Calls `take` with each record below the header line, as an attempt of `check`; a record with another number of
  /// fields is bad. Throws as its finish() does, and fault_error{bad_input} if there is no record.
  void for_each(const csv_file_text& text, record_check& check,
                const std::function<void(const csv_record&)>& take) const;

  /// Throws fault_error{bad_input} with file and line.
  [[noreturn]] void refuse(const csv_record& at, const std::string& what) const;

 private:
  void read_names(const csv_file_text& text);

  std::filesystem::path file_;
  std::vector<std::string> names_;
  std::string other_separator_;  ///< what to do if the names are separated by another; else empty
  std::size_t line_ = 1;  ///< of the header
};

}  // namespace hydra
