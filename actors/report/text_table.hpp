#pragma once
// Aligned columns for a terminal.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Number of characters of UTF-8 text; each counts as one column.
std::size_t text_width(std::string_view text) noexcept;
/// The first `width` characters.
std::string_view clip(std::string_view text, std::size_t width) noexcept;

enum class alignment : bool { left, right };

/// Columns of a line that a terminal need not break.
inline constexpr std::size_t widest_line = 120;

struct table_column {
  std::string title;
  alignment align = alignment::left;
  int dispensable = 0;  ///< of a table that is too wide the columns with the largest numbers are left out; 0: never
};

/// Words on lines that end before column `width`. The first line is the rest of one that is `indent` wide, the others
/// begin with as many spaces. A word that is longer has a line of its own.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

/// Rows of text below titles; each column as wide as its widest cell, two spaces between columns.
class text_table {
 public:
  explicit text_table(std::vector<table_column> columns);

  /// One cell per column.
  void add(std::vector<std::string> cells);

  /// Lines that start with `indent` and end with a newline, without trailing spaces.
  std::string to_string(std::string_view indent = "") const;

  /// The same without columns in which no row has a value ("-" is none), and as narrow as `width` allows: dispensable
  /// columns are left out, which a last line tells, and the last column is wrapped.
  std::string fitted(std::size_t width = widest_line) const;

 private:
  text_table with(const std::vector<std::size_t>& columns) const;
  std::string wrapped(std::size_t width) const;
  std::vector<std::size_t> columns_with_values() const;
  /// With a last column that is wrapped.
  std::size_t least_width() const;
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<table_column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< the first one holds the titles
};

}  // namespace hydra
