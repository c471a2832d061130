#include "models/data/open_records.hpp"

#include "models/data/open_windows.hpp"
#include "models/data/token_cache.hpp"
#include "models/data/tokenized_text.hpp"
#include "models/tokenizers/tokenizer_rules.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

using source = std::shared_ptr<const data_source>;

void write_texts(const record_list& records, const tokenizer& by, const token_sink& sink) {
  const std::optional<std::uint32_t> end = by.special().end_of_text;
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < records.size(); ++i) {
    ids.clear();
    by.encode(records.record(i).text, ids);
    if (end)
      ids.push_back(*end);
    else
      by.encode("\n", ids);
    sink(ids);
  }
}

token_list packed(const packed_file& file, const tokenizer& by) {
  if (!file.records) return {};
  return cached_tokens({cache_key("packed " + file.key, by),
                        [&](const token_sink& sink) { write_texts(*file.records, by, sink); }});
}

/// Everything that affects the samples in addition to the bytes of the files.
std::string rules_of(const record_samples_options& o, const std::vector<class_label>& given) {
  std::string text = fmt::format(", by {} ({}), form {}, context {}, mask {} {}, labels", o.by->identity(),
                                 tokenizer_rules(), static_cast<int>(o.wants.form), o.wants.context, o.masking.share,
                                 o.masking.seed);
  for (const class_label& label : given) text += " " + to_string(label);
  return text;
}

}  // namespace

source open_records(record_samples_options options, const std::vector<class_label>& given) {
  options.fingerprint += rules_of(options, given);
  if (options.wants.form == sample_form::labelled && !options.train->labels().empty()) {
    options.classes = {given, options.train->labels(), options.train->file()};
    for (const record_list* part : {options.train.get(), options.validation.get()})
      if (part) options.classes.check(part->labels(), part->file());
  }
  return std::make_shared<record_samples>(std::move(options));
}

source open_packed(record_samples_options options, const packed_file& train, const packed_file& validation) {
  const tokenizer& by = *options.by;
  if (options.wants.form == sample_form::labelled)
    throw fault_error{fault_code::bad_input,
                      fmt::format("{}: packing joins texts, but the model wants a class for each; "
                                  "set packing = false",
                                  options.name)};
  if (options.wants.form == sample_form::masked)
    encoder_marks_of(by, true, options.name);  // before anything is tokenised
  return open_windows({options.name, packed(train, by), packed(validation, by), by.vocabulary()}, &by, options.masking,
                      options.wants);
}

}  // namespace hydra
