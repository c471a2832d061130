#include "models/data/record_samples.hpp"

#include "models/data/record_parts.hpp"
#include "models/data/sample_bytes.hpp"
#include "models/losses/class_targets.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace hydra {

record_samples::record_samples(record_samples_options options) : options_(std::move(options)) {
  const bool masked = options_.wants.form == sample_form::masked;
  require_room(options_.wants.context, options_.name);
  marks_ = encoder_marks_of(*options_.by, masked, options_.name);
  if (masked)
    masking_.emplace(options_.masking, marks_, options_.by->vocabulary(), options_.name);
  else if (options_.classes.size() == 0)
    refuse(fmt::format("{} is read without labels, but the model wants a class for each text; name the `label`",
                       options_.name));
  for (const split part : {split::train, split::validation})
    if (std::string note = note_on_lengths(part); !note.empty()) notes_on_lengths_.push_back(std::move(note));
}

/// Records are tokenized when they are read: of many only the first ones are looked at.
std::string record_samples::note_on_lengths(split part) const {
  const std::size_t all = samples(part), looked_at = std::min<std::size_t>(all, 1000);
  const auto room = static_cast<std::size_t>(options_.wants.context - 2);  // beside [CLS] and [SEP]
  std::size_t longer = 0;
  for (std::size_t i = 0; i < looked_at; ++i)
    longer += encoded(records(part)->record(i).text).size() > room ? 1 : 0;
  if (longer == 0) return {};
  return fmt::format("{}: {} of {}{} {} records have more than {} tokens and lose their end", options_.name, longer,
                     looked_at < all ? "the first " : "", looked_at, part == split::train ? "training" : "validation",
                     room);
}

const record_list* record_samples::records(split part) const noexcept {
  return part == split::train ? options_.train.get() : options_.validation.get();
}

std::size_t record_samples::samples(split part) const { return records(part) ? records(part)->size() : 0; }

tensor_spec record_samples::sample_input() const { return {{3, options_.wants.context}, element::i64}; }

tensor_spec record_samples::sample_target() const {
  if (options_.wants.form == sample_form::labelled) return {{}, element::i64};
  return {{options_.wants.context}, element::i64};
}

std::int64_t record_samples::classes() const {
  return options_.wants.form == sample_form::labelled ? options_.classes.size() : options_.by->vocabulary();
}

std::vector<std::string> record_samples::notes() const {
  std::vector<std::string> all = options_.by->notes();
  std::ranges::copy(options_.notes, std::back_inserter(all));
  std::ranges::copy(notes_of(options_.train, options_.validation), std::back_inserter(all));
  if (options_.wants.form == sample_form::labelled)
    std::ranges::copy(options_.classes.notes(options_.train->labels(), options_.name), std::back_inserter(all));
  std::ranges::copy(notes_on_lengths_, std::back_inserter(all));
  return all;
}

void record_samples::require_unchanged() const {
  for (const split part : {split::train, split::validation})
    if (const record_list* const of_part = records(part)) of_part->require_unchanged();
}

record_samples::tokens record_samples::encoded(const std::string& text) const {
  const std::vector<std::uint32_t> ids = options_.by->encode(text);
  return {ids.begin(), ids.end()};
}

std::size_t record_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.name, index)};
  const text_record r = records(part)->record(index);
  const auto into = values_in<std::int64_t>(input, static_cast<std::size_t>(sample_input().elements()));
  const auto targets = values_in<std::int64_t>(target, static_cast<std::size_t>(sample_target().elements()));
  write_encoder_input(encoded(r.text), marks_, into);
  if (masking_) return masking_->apply(into.first(targets.size()), targets, part == split::train ? 1 : 2, index);
  targets[0] = options_.classes.find(r.label);
  return 1;
}

}  // namespace hydra
