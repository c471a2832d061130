#include "models/data/openers.hpp"

#include "models/data/jsonl_records.hpp"
#include "models/data/open_records.hpp"
#include "models/data/tokenized_text.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

[[noreturn]] void refuse(const jsonl_files& o, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("jsonl {}: {}", o.train.string(), what)};
}

void check(const jsonl_files& o, const sample_request& wants) {
  if (o.prompt.empty() != o.answer.empty()) refuse(o, "prompt and answer are fields of one record; name both or none");
  if (o.prompt.empty()) return;
  if (o.packing) refuse(o, "packing joins whole texts; with prompt and answer a sample holds one record");
  if (wants.form != sample_form::causal)
    refuse(o, "prompt and answer are for models that predict the next token; this one wants `text`");
}

record_fields fields_of(const jsonl_files& o, const sample_request& wants) {
  record_fields fields{.prompt = o.prompt, .text = o.answer.empty() ? o.text : o.answer};
  if (wants.form == sample_form::labelled) fields.label = o.label;
  return fields;
}

packed_file packable(const std::shared_ptr<const jsonl_records>& records, const std::string& field) {
  return records ? packed_file{records, fmt::format("jsonl {} field {}", digest_of(records->bytes()), field)}
                 : packed_file{};
}

std::string fingerprint_of(const jsonl_records& train, const jsonl_records* validation, const record_fields& f) {
  return fmt::format("jsonl {} {}, fields \"{}\" \"{}\" \"{}\"", digest_of(train.bytes()),
                     validation ? digest_of(validation->bytes()) : "", f.prompt, f.text, f.label);
}

}  // namespace

std::shared_ptr<const data_source> open_jsonl(const jsonl_files& o, const sample_request& wants) {
  check(o, wants);
  const record_fields fields = fields_of(o, wants);
  const auto open = [&](const std::filesystem::path& file) {
    return file.empty() ? nullptr : std::make_shared<const jsonl_records>(file, fields);
  };
  const auto train = open(o.train), validation = open(o.validation);
  record_samples_options samples{.name = fmt::format("jsonl {}", o.train.string()),
                                 .train = train,
                                 .validation = validation,
                                 .by = open_tokenizer(o.tokenizer),
                                 .wants = wants,
                                 .masking = o.masking};
  if (o.tokenizer != tokenizer_choice{}) samples.name += ", " + samples.by->describe();
  if (!o.packing) {
    samples.fingerprint = fingerprint_of(*train, validation.get(), fields);
    return open_records(std::move(samples), o.labels);
  }
  return open_packed(std::move(samples), packable(train, fields.text), packable(validation, fields.text));
}

}  // namespace hydra
