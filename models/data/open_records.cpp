#include "models/data/open_records.hpp"

#include "models/data/open_windows.hpp"
#include "models/data/record_parts.hpp"
#include "models/data/record_samples.hpp"
#include "models/data/record_windows.hpp"
#include "models/data/text_context.hpp"
#include "models/data/token_cache.hpp"
#include "models/data/tokenized_text.hpp"
#include "models/tokenizers/tokenizer_rules.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

token_list joined(const record_list* records, const tokenizer& by) {
  if (!records) return {};
  return cached_tokens({cache_key("packed " + records->identity(), by),
                        [&](const token_sink& sink) { write_texts(*records, by, sink); }});
}

source open_joined(const text_records& r) {
  encoder_marks_of(*r.by, true, r.name);  // before anything is tokenised
  std::vector<std::string> notes = r.notes;
  std::ranges::copy(notes_of(r.train, r.validation), std::back_inserter(notes));
  return open_windows({r.name, joined(r.train.get(), *r.by), joined(r.validation.get(), *r.by), r.by->vocabulary(),
                       std::move(notes)},
                      r.by, r.masking, r.wants);
}

std::string identity_of(const text_records& r) {
  const auto of = [](const auto& records) { return records ? records->identity() : std::string{"none"}; };
  return fmt::format("{}, {}, by {} ({})", of(r.train), of(r.validation), r.by->identity(), tokenizer_rules());
}

/// That of the head, where labels that are sorted are in another.
std::string order_of_head(const class_names& classes) {
  std::string order;
  if (!std::ranges::is_sorted(classes.labels()))
    for (const class_label& label : classes.labels()) order += " " + to_string(label);
  return order;
}

source open_encoder_samples(const text_records& r) {
  record_samples_options o{
      .name = r.name, .train = r.train, .validation = r.validation, .by = r.by, .wants = r.wants, .masking = r.masking,
      .notes = r.notes};
  o.fingerprint = fmt::format("{}, form {}, context {}, mask {} {}, labels", identity_of(r),
                              static_cast<int>(r.wants.form), r.wants.context, r.masking.share, r.masking.seed);
  for (const class_label& label : r.labels) o.fingerprint += " " + to_string(label);
  if (r.wants.form == sample_form::labelled && !r.train->labels().empty()) {
    o.classes = {r.labels, r.train->labels(), r.wants.labels};
    for (const record_list* part : {r.train.get(), r.validation.get()})
      if (part) o.classes.check(part->labels());
    if (r.labels.empty()) o.fingerprint += order_of_head(o.classes);
  }
  return std::make_shared<record_samples>(std::move(o));
}

std::vector<std::string> all_notes_of(const text_records& r) {
  std::vector<std::string> all = r.by->notes();
  std::ranges::copy(r.notes, std::back_inserter(all));
  std::ranges::copy(notes_of(r.train, r.validation), std::back_inserter(all));
  return all;
}

record_encoding encoding_of(const text_records& r) {
  const auto window = static_cast<std::size_t>(r.wants.context);
  if (!r.chat) return prompt_encoding(r.by, window, r.packing);
  return chat_encoding(r.by, {.format = *r.chat, .loss = r.loss, .window = window});
}

/// Padding has no loss, so that any id does; the model may have no row for one beyond those of the records.
std::int64_t padding_of(const special_tokens& special, std::int64_t observed) {
  for (const std::optional<std::uint32_t> id : {special.padding, special.end_of_text})
    if (id && *id < observed) return *id;
  return 0;
}

source open_causal(const text_records& r) {
  require_text_context(r.name, r.wants.context);
  const record_encoding encoding = encoding_of(r);
  const auto tokens = [&](const record_list* records) {
    return records ? record_tokens::of(*records, encoding, *r.by) : record_tokens{};
  };
  const record_tokens train = tokens(r.train.get()), validation = tokens(r.validation.get());
  const std::int64_t observed = std::max(train.observed_vocabulary(), validation.observed_vocabulary());
  return std::make_shared<record_windows>(
      record_windows_options{.name = r.name,
                             .train_file = r.train,
                             .validation_file = r.validation,
                             .train = train,
                             .validation = validation,
                             .vocabulary = r.by->vocabulary(),
                             .by = r.by,
                             .context = r.wants.context,
                             .padding = padding_of(r.by->special(), observed),
                             .packed = r.packing,
                             .seed = r.seed,
                             .fingerprint = fmt::format("{}, {}{}", identity_of(r), encoding.key,
                                                        r.packing ? fmt::format(", packed by seed {}", r.seed) : ""),
                             .notes = all_notes_of(r)});
}

}  // namespace

source open_records(const text_records& r) {
  if (r.wants.form == sample_form::causal) return open_causal(r);
  if (r.chat)
    refuse(fmt::format("{}: conversations are for models that predict the next token; this one wants texts", r.name));
  if (!r.packing) return open_encoder_samples(r);
  if (r.wants.form == sample_form::masked) return open_joined(r);
  refuse(fmt::format("{}: packing joins texts, but the model wants a class for each; set packing = false", r.name));
}

}  // namespace hydra
