#include "models/data/csv_texts.hpp"

#include "models/data/tokenized_text.hpp"
#include "models/data/unread_fields.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace hydra {

csv_texts::csv_texts(const std::filesystem::path& file, std::string text, std::string label, char separator,
                     bad_row_rule bad_rows)
    : path_(file),
      separator_(separator),
      file_(file),
      digest_(digest_of(file_)),
      header_(whole()),
      labelled_(!label.empty()) {
  text_ = header_.find(text);
  label_ = labelled_ ? header_.find(label) : 0;
  record_check check{file, bad_rows};
  header_.for_each(whole(), check, [&](const csv_record& r) {
    if (r.fields[text_].empty()) header_.refuse(r, fmt::format("column \"{}\" is empty", shown(text)));
    if (labelled_) labels_.try_emplace(read(r).label, path_, r.line);
    begins_.push_back(r.begin);
  });
  left_out_ = check.left_out();
  notes_ = check.notes();
  unread_fields unread;
  for (const std::string& name : header_.names())
    if (name != text && name != label) unread.add(name);
  std::ranges::copy(unread.notes(file, "columns", labelled_ ? "" : "target"), std::back_inserter(notes_));
}

text_record csv_texts::read(const csv_record& r) const {
  text_record record{.text = r.fields.at(text_)};
  if (labelled_) record.label = label_from(r.fields.at(label_));
  return record;
}

std::string csv_texts::identity() const {
  return fmt::format("csv {} columns {} {}, separator {}{}", digest_, text_,
                     labelled_ ? std::to_string(label_) : "none", static_cast<int>(separator_),
                     left_out_ > 0 ? fmt::format(", {} left out", left_out_) : "");
}

std::string csv_texts::where(std::size_t index) const {
  return fmt::format("{}:{}", path_.string(), line_number(whole(), begins_.at(index)));
}

text_record csv_texts::record(std::size_t index) const {
  const csv_record r = record_at(whole(), begins_.at(index));
  if (r.fields.size() != header_.names().size())
    header_.refuse(r, "the record is not what it was when the file was opened");
  return read(r);
}

}  // namespace hydra
