#pragma once
// Comma-separated values, record by record (libcsv).

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct csv_record {
  std::size_t line = 0;   ///< where it starts, from 1
  std::size_t begin = 0;  ///< offset in the file
  std::vector<std::string> fields{};

  friend bool operator==(const csv_record&, const csv_record&) = default;
};

/// The source of the values, for messages.
struct csv_file_text {
  const std::filesystem::path& file;
  std::span<const std::byte> bytes;
  char separator = ',';
};

/// Calls `take` with each record until it returns false. A quoted field may hold separators, quotes ("" for one) and
/// line breaks; blanks around a field that is not quoted, a byte order mark and blank lines are skipped. Lines end with
/// LF, CR LF or CR. Throws
/// fault_error{bad_input} with file and line for quotes that do not match or text that is not UTF-8.
void for_each_record(const csv_file_text& text, const std::function<bool(csv_record&)>& take);

/// Of the line that starts at this byte, from 1.
std::size_t line_number(const csv_file_text& text, std::size_t begin);

/// The record that starts at this byte.
csv_record record_at(const csv_file_text& text, std::size_t begin);

}  // namespace hydra
