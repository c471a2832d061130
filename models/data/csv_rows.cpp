#include "models/data/csv_rows.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/sample_bytes.hpp"
#include "models/data/tokenized_text.hpp"
#include "models/data/unread_fields.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

namespace hydra {
namespace {

/// The nearest float, 0 for values too small for a float; empty if it is not a number or too large for a float.
std::optional<float> finite_number(std::string_view text) {
  double x = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, x);
  const bool fits = std::abs(x) <= std::numeric_limits<float>::max();  // false for NaN
  if (text.empty() || error != std::errc{} || stop != end || !fits) return std::nullopt;
  return static_cast<float>(x);
}

/// One column of a file of rows.
struct column_site {
  const csv_columns& header;
  std::size_t index;

  const std::string& name() const { return header.names()[index]; }
  std::optional<float> number(const csv_record& r) const { return finite_number(r.fields[index]); }

  /// Refuses a field that is not a number.
  [[noreturn]] void refuse(const csv_record& r, std::string_view remedy) const {
    const std::string& text = r.fields[index];
    const auto what =
        text.empty() ? fmt::format("column \"{}\" is empty; fill it in, leave the row out", shown(name()))
                     : fmt::format("\"{}\" in column \"{}\" is not a number; write one", shown(text), shown(name()));
    header.refuse(r, fmt::format("{}, or {}", what, remedy));
  }
};

/// Suggests those of `inputs` that are numbers in this record.
float input_of(const column_site& input, const csv_record& r, const std::vector<column_site>& inputs) {
  if (const auto x = input.number(r)) return *x;
  std::vector<std::string> numbers;
  for (const column_site& c : inputs)
    if (c.number(r)) numbers.push_back(fmt::format("\"{}\"", shown(c.name())));
  input.refuse(r, numbers.empty() ? "leave the column out by naming those of numbers: columns = [...]"
                                  : fmt::format("leave the column out: columns = [{}]", fmt::join(numbers, ", ")));
}

std::vector<float> inputs_of(const std::vector<column_site>& inputs, const csv_record& r) {
  std::vector<float> row;
  for (const column_site& c : inputs) row.push_back(input_of(c, r, inputs));
  return row;
}

float target_of(const column_site& target, const csv_record& r) {
  if (const auto x = target.number(r)) return *x;
  target.refuse(r, "leave out regression = true: then the target is a class");
}

/// Of the rows that are read, in their order.
struct row_labels {
  std::vector<class_label> all;
  label_census census;

  void add(const csv_record& r, std::size_t target, const std::filesystem::path& file) {
    all.push_back(label_from(r.fields[target]));
    census.try_emplace(all.back(), file, r.line);
  }
};

/// Mean and deviation of a column.
struct spread {
  double mean = 0, deviation = 1;
};

spread spread_of(const csv_numbers& n, std::size_t column, std::size_t columns) {
  double sum = 0, squares = 0;
  const auto rows = static_cast<double>(n.rows);
  for (std::size_t i = column; i < n.features.size(); i += columns) sum += n.features[i];
  for (std::size_t i = column; i < n.features.size(); i += columns) squares += std::pow(n.features[i] - sum / rows, 2);
  const double deviation = std::sqrt(squares / rows);
  return {sum / rows, deviation > 0 ? deviation : 1};
}

void scale(csv_numbers& n, std::size_t column, std::size_t columns, const spread& by) {
  for (std::size_t i = column; i < n.features.size(); i += columns)
    n.features[i] = static_cast<float>((n.features[i] - by.mean) / by.deviation);
}

}  // namespace

csv_rows::csv_rows(const csv_files& options)
    : options_(options),
      notes_(notes_on_validation("csv " + options.train.string(), options.train, options.validation)) {
  train_ = load(options.train);
  if (!options.validation.empty()) validation_ = load(options.validation);
  if (options.standardise) standardise();
}

void csv_rows::choose_columns(const csv_columns& header) {
  columns_ = options_.columns.empty() ? header.names() : options_.columns;
  if (options_.columns.empty()) std::erase(columns_, options_.target);
  if (std::ranges::count(columns_, options_.target) > 0)
    refuse(fmt::format("columns: \"{}\" is the target; it cannot be an input, too", shown(options_.target)));
  if (columns_.empty()) header.refuse({.line = 1}, "there is no column besides the target");
}

/// The training file is read first: it defines columns and classes.
csv_numbers csv_rows::load(const std::filesystem::path& file) {
  const mapped_file mapped{file};
  digests_ += digest_of(mapped) + ", ";
  const csv_file_text text{file, mapped.bytes(), options_.separator};
  const csv_columns header{text};
  const std::size_t target = header.find(options_.target);
  if (columns_.empty()) choose_columns(header);
  std::vector<column_site> inputs;
  for (const std::string& name : columns_) inputs.push_back({header, header.find(name)});
  csv_numbers n;
  row_labels labels;
  record_check check{file, options_.bad_rows};
  header.for_each(text, check, [&](const csv_record& r) {
    const std::vector<float> row = inputs_of(inputs, r);
    if (options_.regression)
      n.reals.push_back(target_of({header, target}, r));
    else
      labels.add(r, target, file);
    n.features.insert(n.features.end(), row.begin(), row.end());
    ++n.rows;
  });
  add_notes(header, check, file);
  if (options_.regression) return n;
  if (names_.size() == 0) names_ = {options_.labels, labels.census};
  names_.check(labels.census);
  for (const class_label& label : labels.all) n.classes.push_back(names_.find(label));
  return n;
}

/// Columns that the user has not chosen are no news. Those of the validation file that the training file lacks are.
void csv_rows::add_notes(const csv_columns& header, const record_check& check, const std::filesystem::path& file) {
  unread_fields unread;
  for (const std::string& name : header.names())
    if (options_.columns.empty() && name != options_.target && std::ranges::count(columns_, name) == 0)
      unread.add(name);
  std::ranges::copy(check.notes(), std::back_inserter(notes_));
  std::ranges::copy(unread.notes(file, "columns"), std::back_inserter(notes_));
  if (check.left_out() > 0) digests_ += fmt::format("{} left out, ", check.left_out());
}

void csv_rows::standardise() {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const spread by = spread_of(train_, c, columns_.size());
    scale(train_, c, columns_.size(), by);
    scale(validation_, c, columns_.size(), by);
  }
}

tensor_spec csv_rows::sample_target() const {
  if (options_.regression) return {{1}, element::f32};
  return {{}, element::i64};
}

std::size_t csv_rows::read(split part, std::size_t index, std::span<std::byte> input,
                           std::span<std::byte> target) const {
  const csv_numbers& n = numbers(part);
  if (index >= n.rows) throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", describe(), index)};
  const auto into = values_in<float>(input, columns_.size());
  std::copy_n(n.features.begin() + static_cast<std::ptrdiff_t>(index * columns_.size()), columns_.size(), into.begin());
  if (options_.regression)
    values_in<float>(target, 1)[0] = n.reals[index];
  else
    values_in<std::int64_t>(target, 1)[0] = n.classes[index];
  return 1;
}

std::string csv_rows::fingerprint() const {
  std::string text = fmt::format("csv {}target \"{}\", columns \"{}\", labels", digests_, options_.target,
                                 fmt::join(columns_, "\" \""));
  for (const class_label& label : options_.labels) text += " " + to_string(label);
  return fmt::format("{}, regression {}, standardise {}, separator {}", text, options_.regression, options_.standardise,
                     static_cast<int>(options_.separator));
}

std::string csv_rows::describe() const { return fmt::format("csv {}", options_.train.string()); }

}  // namespace hydra
