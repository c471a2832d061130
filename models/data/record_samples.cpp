#include "models/data/record_samples.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/losses/class_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {
namespace {

void refuse(const record_samples_options& o, const std::string& what) {
  throw fault_error{fault_code::bad_input, fmt::format("{} {}", o.name, what)};
}

void check_causal(const record_samples_options& o) {
  if (o.wants.context <= 0)
    refuse(o, fmt::format("needs a model with a context; this one asks for {} tokens per sample", o.wants.context));
}

void check_labels(const record_samples_options& o) {
  if (o.classes.size() == 0)
    refuse(o, "is read without labels, but the model wants a class for each text; name the `label`");
}

/// The parts of a record that fit into a window of `space` tokens: the end of the prompt, the start of the text.
void shorten(std::vector<std::int64_t>& prompt, std::vector<std::int64_t>& text, std::size_t space) {
  const std::size_t kept = std::min(text.size(), space - std::min(prompt.size(), space / 2));
  text.resize(kept);
  if (prompt.size() > space - kept)
    prompt.erase(prompt.begin(), prompt.end() - static_cast<std::ptrdiff_t>(space - kept));
}

std::int64_t padding_of(const special_tokens& special) {
  return static_cast<std::int64_t>(special.padding.value_or(special.end_of_text.value_or(0)));
}

}  // namespace

record_samples::record_samples(record_samples_options options) : options_(std::move(options)) {
  const sample_form form = options_.wants.form;
  if (form == sample_form::causal)
    check_causal(options_);
  else
    prepare_encoder(form == sample_form::masked);
}

void record_samples::prepare_encoder(bool masked) {
  require_room(options_.wants.context, options_.name);
  marks_ = encoder_marks_of(*options_.by, masked, options_.name);
  if (masked)
    masking_.emplace(options_.masking, marks_, options_.by->vocabulary(), options_.name);
  else
    check_labels(options_);
}

const record_list* record_samples::records(split part) const noexcept {
  return part == split::train ? options_.train.get() : options_.validation.get();
}

std::size_t record_samples::samples(split part) const { return records(part) ? records(part)->size() : 0; }

tensor_spec record_samples::sample_input() const {
  if (options_.wants.form == sample_form::causal) return {{options_.wants.context}, element::i64};
  return {{3, options_.wants.context}, element::i64};
}

tensor_spec record_samples::sample_target() const {
  if (options_.wants.form == sample_form::labelled) return {{}, element::i64};
  return {{options_.wants.context}, element::i64};
}

std::int64_t record_samples::classes() const {
  return options_.wants.form == sample_form::labelled ? options_.classes.size() : options_.by->vocabulary();
}

void record_samples::require_unchanged() const {
  for (const split part : {split::train, split::validation})
    if (const record_list* const of_part = records(part)) of_part->require_unchanged();
}

record_samples::tokens record_samples::encoded(const std::string& text) const {
  const std::vector<std::uint32_t> ids = options_.by->encode(text);
  return {ids.begin(), ids.end()};
}

std::size_t record_samples::write_causal(const text_record& r, std::span<std::int64_t> input,
                                         std::span<std::int64_t> target) const {
  const special_tokens special = options_.by->special();
  tokens all = encoded(r.prompt), text = encoded(r.text);
  if (special.end_of_text) text.push_back(*special.end_of_text);
  shorten(all, text, input.size() + 1);
  const std::size_t silent = all.size();
  all.insert(all.end(), text.begin(), text.end());
  std::ranges::fill(input, padding_of(special));
  std::ranges::fill(target, masked_target);
  std::copy_n(all.begin(), std::min(all.size(), input.size()), input.begin());
  const std::size_t first = std::max<std::size_t>(silent, 1);
  for (std::size_t i = first; i < all.size(); ++i) target[i - 1] = all[i];
  return all.size() > first ? all.size() - first : 0;
}

std::size_t record_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.name, index)};
  const text_record r = records(part)->record(index);
  const auto into = values_in<std::int64_t>(input, static_cast<std::size_t>(sample_input().elements()));
  const auto targets = values_in<std::int64_t>(target, static_cast<std::size_t>(sample_target().elements()));
  if (options_.wants.form == sample_form::causal) return write_causal(r, into, targets);
  write_encoder_input(encoded(r.text), marks_, into);
  if (masking_) return masking_->apply(into.first(targets.size()), targets, part == split::train ? 1 : 2, index);
  targets[0] = options_.classes.find(r.label);
  return 1;
}

}  // namespace hydra
