#include "actors/report/text_table.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

bool starts_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

void append_cell(std::string& line, const std::string& text, std::size_t width, alignment align) {
  const std::string padding(width - text_width(text), ' ');
  line += align == alignment::right ? padding + text : text + padding;
}

}  // namespace

std::size_t text_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string_view clip(std::string_view text, std::size_t width) noexcept {
  std::size_t end = 0;
  for (std::size_t n = 0; end < text.size(); ++end) {
    n += starts_character(text[end]) ? 1 : 0;
    if (n > width) {
      break;
    }
  }
  return text.substr(0, end);
}

text_table::text_table(std::vector<table_column> columns) : columns_(std::move(columns)), rows_(1) {
  std::ranges::transform(columns_, std::back_inserter(rows_.front()), &table_column::title);
}

void text_table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size()) {
    throw fault_error{fault_code::internal, "a table row needs one cell per column"};
  }
  std::ranges::transform(cells, cells.begin(), on_one_line);  // names may come from files of others
  rows_.push_back(std::move(cells));
}

std::string text_table::to_string(std::string_view indent) const {
  const auto w = widths();
  std::string text;
  for (const auto& row : rows_) {
    text.append(indent).append(line(row, w)).append("\n");
  }
  return text;
}

std::vector<std::size_t> text_table::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i]));
    }
  }
  return widths;
}

std::string text_table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    text += i == 0 ? "" : "  ";
    append_cell(text, cells[i], widths[i], columns_[i].align);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace hydra
