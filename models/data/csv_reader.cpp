#include "models/data/csv_reader.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/utf8.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse_line(const csv_file_text& text, std::size_t line, const std::string& what) {
  refuse(fmt::format("{}:{}: {}", text.file.string(), line, what));
}

/// The library's parser, fed line by line so that a record's first line is known.
class line_parser {
 public:
  explicit line_parser(const csv_file_text& text) : text_{text} {
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(&parser_, static_cast<unsigned char>(text.separator));
    if (text.separator == '\t') csv_set_space_func(&parser_, [](unsigned char c) { return c == CSV_SPACE ? 1 : 0; });
  }
  ~line_parser() { csv_free(&parser_); }
  line_parser(const line_parser&) = delete;
  line_parser& operator=(const line_parser&) = delete;

  /// Feeds a line with its end; true if a record is complete.
  bool feed(std::span<const std::byte> line, std::size_t number) {
    complete_ = false;
    if (csv_parse(&parser_, line.data(), line.size(), on_field, on_record, this) != line.size())
      refuse_line(text_, number,
             "quotes do not match: a field that holds a quote is quoted, and the quote in it is written twice");
    return complete_;
  }

  /// Ends the last record, which may lack a line break; true if there is one.
  bool finish(std::size_t first_line) {
    complete_ = false;
    if (csv_fini(&parser_, on_field, on_record, this) != 0)
      refuse_line(text_, first_line, "the quoted field that begins here does not end");
    return complete_;
  }

  std::vector<std::string> take() { return std::exchange(fields_, {}); }

 private:
  static void on_field(void* bytes, std::size_t size, void* self) {
    static_cast<line_parser*>(self)->fields_.emplace_back(static_cast<const char*>(bytes), size);
  }
  static void on_record(int, void* self) { static_cast<line_parser*>(self)->complete_ = true; }

  csv_parser parser_;
  const csv_file_text& text_;
  std::vector<std::string> fields_;
  bool complete_ = false;
};

/// To a line feed, a carriage return (of old spreadsheets), or both, and including them: the parser ends a record at
/// each.
std::span<const std::byte> line_of(std::span<const std::byte> bytes, std::size_t begin) {
  const auto rest = bytes.subspan(begin);
  auto end = std::ranges::find_if(rest, [](std::byte b) { return b == std::byte{'\n'} || b == std::byte{'\r'}; });
  const bool returns = end != rest.end() && *end == std::byte{'\r'};
  if (end != rest.end()) ++end;
  if (returns && end != rest.end() && *end == std::byte{'\n'}) ++end;
  return rest.first(static_cast<std::size_t>(end - rest.begin()));
}

bool is_blank(std::span<const std::byte> line) {
  return std::ranges::all_of(line, [](std::byte b) { return b == std::byte{'\n'} || b == std::byte{'\r'}; });
}

void check_utf8(const csv_file_text& text, std::span<const std::byte> line, std::size_t number) {
  if (const std::string why = utf8_complaint(line, " of the line"); !why.empty()) refuse_line(text, number, why);
}

std::size_t after_mark(std::span<const std::byte> bytes) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return all.size() - without_byte_order_mark(all).size();
}

/// Starts at the beginning of a record; lines are counted from there.
void read_records(const csv_file_text& text, std::size_t at, const std::function<bool(csv_record&)>& take) {
  line_parser parser{text};
  csv_record next{.line = 1, .begin = at};
  bool inside = false;
  for (std::size_t number = 1; at < text.bytes.size(); ++number) {
    const auto line = line_of(text.bytes, at);
    check_utf8(text, line, number);
    if (!inside) next.line = number, next.begin = at;
    at += line.size();
    if (!inside && is_blank(line)) continue;
    inside = !parser.feed(line, number);
    if (inside) continue;
    next.fields = parser.take();
    if (!take(next)) return;
  }
  if (!parser.finish(next.line)) return;
  next.fields = parser.take();
  take(next);
}

}  // namespace

void for_each_record(const csv_file_text& text, const std::function<bool(csv_record&)>& take) {
  read_records(text, after_mark(text.bytes), take);
}

std::size_t line_number(const csv_file_text& text, std::size_t begin) {
  std::size_t number = 1;
  for (std::size_t at = 0; at < begin; ++number) at += line_of(text.bytes, at).size();
  return number;
}

csv_record record_at(const csv_file_text& text, std::size_t begin) {
  csv_record found;
  read_records(text, begin, [&](csv_record& r) {
    found = std::move(r);
    return false;
  });
  return found;
}

}  // namespace hydra
