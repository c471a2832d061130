#include "models/data/openers.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/csv_rows.hpp"
#include "models/data/csv_texts.hpp"
#include "models/data/open_records.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse_csv(const csv_files& o, const std::string& what) {
  refuse(fmt::format("csv {}: {}", o.train.string(), what));
}

void check(const csv_files& o) {
  if (o.text.empty() && o.target.empty())
    refuse_csv(o, "name the column to predict, `target`, or a column of texts, `text`");
  if (!o.text.empty() && o.regression) refuse_csv(o, "a text is classified; regression is for columns of numbers");
  if (!o.text.empty() && !o.columns.empty()) refuse_csv(o, "samples are either columns of numbers or one text");
  if (o.regression && !o.labels.empty()) refuse_csv(o, "labels name classes; a regression has none");
}

}  // namespace

std::shared_ptr<const data_source> open_csv(const csv_files& o, const sample_request& wants) {
  check(o);
  if (o.text.empty()) return std::make_shared<csv_rows>(o);
  const std::string label = wants.form == sample_form::labelled ? o.target : "";
  const auto open = [&](const std::filesystem::path& file) {
    return file.empty() ? nullptr : std::make_shared<const csv_texts>(file, o.text, label, o.separator, o.bad_rows);
  };
  const auto train = open(o.train), validation = open(o.validation);
  text_records records{.name = fmt::format("csv {}", o.train.string()),
                       .train = train,
                       .validation = validation,
                       .by = open_tokenizer(o.tokenizer),
                       .wants = wants,
                       .labels = o.labels,
                       .masking = o.masking};
  if (o.tokenizer != tokenizer_choice{}) records.name += ", " + records.by->describe();
  records.notes = notes_on_choices(records.name, o, records.by.get(), wants);
  return open_records(records);
}

}  // namespace hydra
