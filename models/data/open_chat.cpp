#include "models/data/choice_notes.hpp"
#include "models/data/open_jsonl_files.hpp"
#include "models/data/open_records.hpp"
#include "models/data/openers.hpp"
#include "models/data/stored_template.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

std::shared_ptr<const data_source> open_chat(const chat_files& o, const sample_request& wants) {
  const auto by = open_tokenizer(o.tokenizer);
  const record_fields fields{.chat = true, .bad_rows = o.bad_rows, .test = chat_test(o.format, *by, o.loss)};
  const record_split parts = open_jsonl_files(o, fields, o.seed);
  const std::string name = fmt::format("chat {}, {}", o.train.string(), by->describe());
  std::vector<std::string> notes = notes_on_choices(name, o, by.get(), wants);
  if (auto other = note_of_stored_template(o.tokenizer.file, o.format, marks_of(*by)))
    notes.push_back(*std::move(other));
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
