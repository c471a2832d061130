#include "models/data/openers.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/open_jsonl_files.hpp"
#include "models/data/open_records.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse_jsonl(const jsonl_files& o, const std::string& what) {
  refuse(fmt::format("{} {}: {}", o.kind, o.train.string(), what));
}

void check(const jsonl_files& o, const sample_request& wants) {
  if (o.prompt.empty() != o.answer.empty())
    refuse_jsonl(o, "prompt and answer are fields of one record; name both or none");
  if (o.prompt.empty()) return;
  if (wants.form != sample_form::causal)
    refuse_jsonl(o, "prompt and answer are for models that predict the next token; this one wants `text`");
}

record_fields fields_of(const jsonl_files& o, const sample_request& wants) {
  record_fields fields{.prompt = o.prompt,
                       .text = o.answer.empty() ? o.text : o.answer,
                       .short_prompt = o.short_prompt,
                       .bad_rows = o.bad_rows};
  if (wants.form == sample_form::labelled) fields.label = o.label;
  return fields;
}

}  // namespace

std::shared_ptr<const data_source> open_jsonl(const jsonl_files& o, const sample_request& wants) {
  check(o, wants);
  const record_fields fields = fields_of(o, wants);
  const record_split parts = open_jsonl_files(o, fields, o.masking.seed);
  text_records records{.name = fmt::format("{} {}", o.kind, o.train.string()),
                       .train = parts.train,
                       .validation = parts.validation,
                       .by = open_tokenizer(o.tokenizer),
                       .wants = wants,
                       .labels = o.labels,
                       .masking = o.masking,
                       .packing = o.packing,
                       .seed = o.masking.seed};
  if (o.tokenizer != tokenizer_choice{}) records.name += ", " + records.by->describe();
  records.notes = notes_on_choices(records.name, o, records.by.get(), wants);
  return open_records(records);
}

}  // namespace hydra
