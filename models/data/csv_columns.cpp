#include "models/data/csv_columns.hpp"

#include "models/data/file_looks.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {

namespace {

void refuse_other_files(const csv_file_text& text) {
  refuse_utf16(text.file, text.bytes);
  const std::string_view look = json_look({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()});
  if (look.empty()) return;
  refuse(text.file, fmt::format("looks like {}, a table of values with separators (CSV) is expected; for JSON write "
                                "kind = \"jsonl\" in [data.NAME]",
                                look));
}

/// What to do; empty if they are not.
std::string other_separator_of(const csv_file_text& text) {
  const auto found = likely_separator(text, 1);
  if (!found || *found == text.separator) return {};
  return fmt::format("; the line of names looks like one for {}, but {} is set: write the first in [data.NAME]",
                     separator_key(*found), separator_key(text.separator));
}

}  // namespace

csv_columns::csv_columns(const csv_file_text& text) : file_(text.file) {
  refuse_other_files(text);
  other_separator_ = other_separator_of(text);
  read_names(text);
  const csv_record header{.line = line_};
  if (names_.empty()) refuse(header, "there is no line of names");
  for (const std::string& name : names_) {
    if (name.empty()) refuse(header, "a column has no name");
    if (std::ranges::count(names_, name) > 1) refuse(header, fmt::format("two columns are called \"{}\"", shown(name)));
  }
}

/// Quotes do not match where what follows a quoted name is not a separator.
void csv_columns::read_names(const csv_file_text& text) try {
  for_each_record(text, [this](csv_record& r) {
    names_ = std::move(r.fields);
    line_ = r.line;
    return false;
  });
} catch (const fault_error& e) {
  throw fault_error{e.what_happened().code, e.what_happened().text + other_separator_};
}

void csv_columns::refuse(const csv_record& at, const std::string& what) const {
  hydra::refuse(fmt::format("{}:{}: {}", file_.string(), at.line, what));
}

std::size_t csv_columns::find(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  refuse({.line = line_},
         fmt::format("there is no column \"{}\"{}", shown(name), known_instead(name, names_)) + other_separator_);
}

void csv_columns::for_each(const csv_file_text& text, record_check& check,
                           const std::function<void(const csv_record&)>& take) const {
  bool empty = true;
  for_each_record(text, [&](csv_record& r) {
    if (r.line == line_) return true;
    empty = false;
    check.attempt([&] {
      if (r.fields.size() != names_.size())
        refuse(r, fmt::format("{}, but there are {}", counted(r.fields.size(), "field"),
                              counted(names_.size(), "column")));
      take(r);
    });
    return true;
  });
  if (empty) refuse({.line = line_}, "there is no record below the names");
  check.finish();
}

}  // namespace hydra
