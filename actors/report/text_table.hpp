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

struct table_column {
  std::string title;
  alignment align = alignment::left;
};

/// Rows of text below titles; each column as wide as its widest cell, two spaces between columns.
class text_table {
 public:
  explicit text_table(std::vector<table_column> columns);

  /// One cell per column.
  void add(std::vector<std::string> cells);

  /// Lines that start with `indent` and end with a newline, without trailing spaces.
  std::string to_string(std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;
  std::vector<table_column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< the first one holds the titles
};

}  // namespace hydra
