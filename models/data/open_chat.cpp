#include "models/data/answer_end.hpp"
#include "models/data/choice_notes.hpp"
#include "models/data/open_jsonl_files.hpp"
#include "models/data/open_records.hpp"
#include "models/data/openers.hpp"
#include "models/data/stored_template.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

namespace {

/// With what the template wants of a checkpoint.
chat_files with_template(chat_files o, const tokenizer& by) try {
  o.format = with_stored(std::move(o.format), o.tokenizer, marks_of(by));
  return o;
} catch (const fault_error& e) {
  refuse(fmt::format("chat {}: {}", o.train.string(), e.what_happened().text));
}

}  // namespace

std::shared_ptr<const data_source> open_chat(const chat_files& given, const sample_request& wants) {
  const auto by = open_tokenizer(given.tokenizer);
  const chat_files o = with_template(given, *by);
  const record_fields fields{.chat = true, .bad_rows = o.bad_rows, .test = chat_test(o.format, *by, o.loss)};
  const record_split parts = open_jsonl_files(o, fields, o.seed);
  const std::string name = fmt::format("chat {}, {}", o.train.string(), by->describe());
  std::vector<std::string> notes = notes_on_choices(name, o, by.get(), wants);
  if (auto other = note_of_stored_template(o.tokenizer.file, o.format, marks_of(*by)))
    notes.push_back(*std::move(other));
  if (auto endless = note_on_answer_end(name, o.format, o.loss, *by)) notes.push_back(*std::move(endless));
  return open_records({.name = name,
                       .train = parts.train,
                       .validation = parts.validation,
                       .by = by,
                       .wants = wants,
                       .packing = o.packing,
                       .seed = o.seed,
                       .chat = o.format,
                       .loss = o.loss,
                       .notes = std::move(notes)});
}

}  // namespace hydra
