#include "models/data/record_windows.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/data/text_context.hpp"
#include "models/losses/class_targets.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra {
namespace {

/// Inputs of a record: all of its tokens but the last.
std::size_t places_of(const record_tokens& records, std::size_t i) {
  const std::size_t length = records.length(i);
  return length == 0 ? 0 : length - 1;
}

}  // namespace

record_windows::record_windows(record_windows_options options) : options_(std::move(options)) {
  require_text_context(options_.name, options_.context);
  if (!options_.packed) return;
  train_ = packed(options_.train);
  validation_ = packed(options_.validation);
}

window_plan record_windows::packed(const record_tokens& records) const {
  if (!std::in_range<std::uint32_t>(records.size()))
    refuse(fmt::format("{}: {} records are more than packing can have, 2^32", options_.name, records.size()));
  std::vector<std::uint32_t> places(records.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint32_t>(places_of(records, i));
  return first_fit(places, static_cast<std::uint32_t>(options_.context), options_.seed);
}

const record_tokens& record_windows::records(split part) const noexcept {
  return part == split::train ? options_.train : options_.validation;
}

std::size_t record_windows::samples(split part) const {
  return options_.packed ? plan(part).size() : records(part).size();
}

std::size_t record_windows::tokens_of(split part, std::size_t index) const {
  const record_tokens& from = records(part);
  if (!options_.packed) return std::min(places_of(from, index), static_cast<std::size_t>(options_.context));
  std::size_t sum = 0;
  for (const std::uint32_t record : plan(part).window(index)) sum += places_of(from, record);
  return sum;
}

std::optional<record_census> record_windows::census(split part) const {
  const record_tokens& from = records(part);
  const auto& file = part == split::train ? options_.train_file : options_.validation_file;
  record_census sum{.records = file ? file->size() : from.size()};
  for (std::size_t i = 0; i < from.size(); ++i) sum.shortened += from.shortened(i) ? 1 : 0;
  return sum;
}

std::vector<std::string> record_windows::notes() const {
  std::vector<std::string> all = options_.notes;
  for (const split part : {split::train, split::validation})
    if (const auto of = census(part); of->shortened > 0)
      all.push_back(fmt::format(
          "{}: {} of {} {} records have more than {} tokens and are shortened: a prompt and earlier turns from the "
          "beginning, what is learnt from the end",
          options_.name, of->shortened, of->records, part == split::train ? "training" : "validation",
          options_.context));
  return all;
}

tensor_spec record_windows::sample_input() const {
  if (options_.packed) return {{2, options_.context}, element::i64};
  return {{options_.context}, element::i64};
}

void record_windows::require_unchanged() const {
  for (const auto& file : {options_.train_file, options_.validation_file})
    if (file) file->require_unchanged();
  options_.train.require_unchanged();
  options_.validation.require_unchanged();
}

std::size_t record_windows::write(const record_tokens& from, std::size_t record, free_places& places) {
  const std::size_t inputs = places_of(from, record);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    places.ids[i] = from.word(record, i) & ~counted_word;
    const record_word next = from.word(record, i + 1);
    if ((next & counted_word) == 0) continue;
    places.targets[i] = next & ~counted_word;
    ++counted;
  }
  if (!places.starts.empty() && inputs > 0) places.starts[0] = 1;
  for (auto* part : {&places.ids, &places.starts, &places.targets})
    if (!part->empty()) *part = part->subspan(inputs);
  return counted;
}

/// The last token of a record is an input, too, where there is space: it has no target.
std::size_t record_windows::write_alone(const record_tokens& from, std::size_t record, free_places& places) {
  const std::size_t counted = write(from, record, places);
  const std::size_t length = from.length(record);
  if (length > 0 && !places.ids.empty()) places.ids[0] = from.word(record, length - 1) & ~counted_word;
  return counted;
}

std::size_t record_windows::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.name, index)};
  const auto context = static_cast<std::size_t>(options_.context);
  const auto all = values_in<std::int64_t>(input, options_.packed ? 2 * context : context);
  free_places left{all.first(context), all.subspan(context), values_in<std::int64_t>(target, context)};
  std::ranges::fill(left.ids, options_.padding);
  std::ranges::fill(left.starts, 0);
  std::ranges::fill(left.targets, masked_target);
  if (!options_.packed) return write_alone(records(part), index, left);
  std::size_t counted = 0;
  for (const std::uint32_t record : plan(part).window(index)) counted += write(records(part), record, left);
  if (!left.starts.empty()) left.starts[0] = 1;
  return counted;
}

}  // namespace hydra
