#include "actors/report/text_table.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace hydra {

namespace {

void append_cell(std::string& line, const std::string& text, std::size_t width, alignment align) {
  const std::string padding(width - text_width(text), ' ');
  line += align == alignment::right ? padding + text : text + padding;
}

constexpr std::size_t gap = 2;
constexpr std::size_t least_wrapped = 44;  // columns of text that can still be read

bool is_value(const std::string& cell) { return !cell.empty() && cell != "-"; }

/// Position in `kept` of the column that is left out first; its end if all are needed.
std::size_t most_dispensable(const std::vector<table_column>& columns, const std::vector<std::size_t>& kept) {
  const auto rank = [&](std::size_t c) { return columns[c].dispensable; };
  const auto most = std::ranges::max_element(kept, {}, rank);
  return most == kept.end() || rank(*most) == 0 ? kept.size() : static_cast<std::size_t>(most - kept.begin());
}

}  // namespace

std::size_t text_width(std::string_view text) noexcept { return code_points(text); }

std::string_view clip(std::string_view text, std::size_t width) noexcept {
  std::size_t end = 0;
  for (std::size_t n = 0; end < text.size(); ++end) {
    n += begins_code_point(text[end]) ? 1 : 0;
    if (n > width) {
      break;
    }
  }
  return text.substr(0, end);
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = indent;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (used > indent && used + 1 + text_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += text_width(word);
  }
  return out;
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

std::string text_table::fitted(std::size_t width) const {
  auto kept = columns_with_values();
  std::vector<std::string> left_out;
  for (auto worst = kept.size();
       with(kept).least_width() > width && (worst = most_dispensable(columns_, kept)) < kept.size();) {
    left_out.push_back(columns_[kept[worst]].title);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(worst));
  }
  const auto text = with(kept).wrapped(width);
  if (left_out.empty()) {
    return text;
  }
  return text + fmt::format("(columns left out to stay within {} characters: {})\n", width, fmt::join(left_out, ", "));
}

std::string text_table::wrapped(std::size_t width) const {
  const auto w = widths();
  const auto before = std::accumulate(w.begin(), std::prev(w.end()), gap * (w.size() - 1));
  const auto end = std::max(width, before + least_wrapped);
  std::string text;
  for (auto row : rows_) {
    const auto last = before + text_width(row.back()) > end ? std::exchange(row.back(), "") : "";
    auto start = line(row, w);
    if (!last.empty()) {
      start.resize(start.size() + before - text_width(start), ' ');
    }
    text += start + wrap(last, end, before) + "\n";
  }
  return text;
}

text_table text_table::with(const std::vector<std::size_t>& columns) const {
  std::vector<table_column> kept;
  std::ranges::transform(columns, std::back_inserter(kept), [&](std::size_t c) { return columns_[c]; });
  text_table t{std::move(kept)};
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    auto& cells = t.rows_.emplace_back();
    std::ranges::transform(columns, std::back_inserter(cells), [&](std::size_t c) { return rows_[row][c]; });
  }
  return t;
}

std::vector<std::size_t> text_table::columns_with_values() const {
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const auto has_value = [c](const auto& row) { return is_value(row[c]); };
    if (c == 0 || rows_.size() == 1 || std::any_of(std::next(rows_.begin()), rows_.end(), has_value)) {
      kept.push_back(c);
    }
  }
  return kept;
}

std::size_t text_table::least_width() const {
  auto w = widths();
  w.back() = std::min(w.back(), least_wrapped);
  return std::accumulate(w.begin(), w.end(), gap * (w.size() - 1));
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
