#include "models/data/tensor_samples.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/openers.hpp"
#include "models/data/sample_bytes.hpp"
#include "models/data/tokenized_text.hpp"
#include "models/data/unread_fields.hpp"
#include "models/weights/listed_names.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_classes = 1'000'000'000;

std::vector<std::int64_t> shape_of_sample(const stored_tensor& t) { return {t.shape.begin() + 1, t.shape.end()}; }

std::size_t bytes_of_sample(const stored_tensor& t) {
  return t.data.size() / static_cast<std::size_t>(t.shape.front());
}

std::span<const std::byte> sample_of(const stored_tensor& t, std::size_t index) {
  return t.data.subspan(index * bytes_of_sample(t), bytes_of_sample(t));
}

/// In files of other programs elements may begin anywhere.
std::int64_t class_at(const stored_tensor& t, std::size_t i) {
  std::int64_t value = 0;
  std::memcpy(&value, t.data.data() + i * sizeof value, sizeof value);
  return value;
}

bool is_one_of(const stored_tensor& t, std::initializer_list<stored_type> types) {
  return std::ranges::count(types, t.type) > 0;
}

stored_tensor find(const safetensors_file& tensors, const fs::path& path, const std::string& name) {
  const auto found = tensors.find(name);
  if (!found)
    refuse(path, fmt::format("there is no tensor \"{}\", which the model takes; there are: {}", shown(name),
                             listed_names(tensors.names())));
  return *found;
}

/// All have so many samples.
std::size_t count_samples(const fs::path& path, const safetensors_file& tensors,
                          const std::vector<std::string>& names) {
  std::int64_t samples = 0;
  for (const std::string& name : names) {
    const stored_tensor t = *tensors.find(name);
    const std::int64_t own = t.shape.empty() ? 0 : t.shape.front();
    if (own < 1) refuse(path, fmt::format("tensor \"{}\": its first dimension has to count the samples", shown(name)));
    if (samples != 0 && own != samples)
      refuse(path, fmt::format("tensor \"{}\" is of {} samples, and tensor \"{}\" of {}", shown(name), own,
                               shown(names.front()), samples));
    samples = own;
  }
  return static_cast<std::size_t>(samples);
}

/// One more than the largest class.
std::int64_t count_classes(const fs::path& path, const std::string& name, const stored_tensor& t) {
  std::int64_t most = -1;
  for (std::size_t i = 0; i < t.data.size() / sizeof(std::int64_t); ++i) {
    const std::int64_t c = class_at(t, i);
    if ((c < 0 || c > most_classes) && c != uncounted_target)
      refuse(path, fmt::format("tensor \"{}\": {} is not a class; classes count from 0, and {} does not count",
                               shown(name), c, uncounted_target));
    most = std::max(most, c);
  }
  return most + 1;
}

}  // namespace

tensor_samples::tensor_samples(const tensor_files& options, const std::vector<std::string>& inputs)
    : options_{options}, named_{!inputs.empty()}, inputs_{inputs} {
  train_ = open(options_.train);
  if (options_.validation.empty()) return;
  validation_ = open(options_.validation);
  check_like_training(validation_, options_.validation);
  std::ranges::copy(notes_on_validation(describe(), options_.train, options_.validation), std::back_inserter(notes_));
  train_.classes = std::max(train_.classes, validation_.classes);
}

tensor_samples::opened tensor_samples::open(const fs::path& path) {
  opened file;
  file.tensors = std::make_unique<const safetensors_file>(path);
  file.digest = digest_of(file.tensors->mapping());
  file.target = file.tensors->find(options_.target);
  if (inputs_.empty()) choose_input(file, path);
  std::vector<std::string> used = inputs_;
  for (const std::string& name : inputs_) file.inputs.push_back(find(*file.tensors, path, name));
  if (file.target) used.push_back(options_.target);
  file.samples = count_samples(path, *file.tensors, used);
  if (!named_ && file.inputs[0].type != stored_type::i64 && !widens_to_f32(file.inputs[0].type))
    refuse(path, fmt::format("tensor \"{}\" is of type {}; a model of one input takes F32, F16, BF16 or I64",
                             shown(inputs_[0]), to_string(file.inputs[0].type)));
  if (file.target && !is_one_of(*file.target, {stored_type::f32, stored_type::i64}))
    refuse(path, fmt::format("tensor \"{}\" is of type {}; targets are F32 (numbers) or I64 (classes)",
                             shown(options_.target), to_string(file.target->type)));
  if (file.target && file.target->type == stored_type::i64)
    file.classes = count_classes(path, options_.target, *file.target);
  note_others(file, path);
  return file;
}

void tensor_samples::note_others(const opened& file, const fs::path& path) {
  unread_fields unread;
  for (const std::string& name : file.tensors->names())
    if (name != options_.target && std::ranges::count(inputs_, name) == 0) unread.add(name);
  std::ranges::copy(unread.notes(path, "tensors"), std::back_inserter(notes_));
}

void tensor_samples::choose_input(const opened& file, const fs::path& path) {
  std::vector<std::string> others = file.tensors->names();
  std::erase(others, options_.target);
  if (others.size() != 1)
    refuse(path, fmt::format("the model takes one tensor, and besides the target \"{}\" there are {}: {}",
                             shown(options_.target), others.size(), listed_names(others)));
  inputs_ = others;
}

void tensor_samples::check_like_training(const opened& file, const fs::path& path) const {
  const auto alike = [](const stored_tensor& a, const stored_tensor& b) {
    return a.type == b.type && shape_of_sample(a) == shape_of_sample(b);
  };
  const bool targets =
      file.target.has_value() == train_.target.has_value() && (!file.target || alike(*file.target, *train_.target));
  if (!targets)
    refuse(path, fmt::format("its target \"{}\" is not as in {}", shown(options_.target), options_.train.string()));
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!alike(file.inputs[i], train_.inputs[i]))
      refuse(path, fmt::format("tensor \"{}\" has another type or shape than in {}", shown(inputs_[i]),
                               options_.train.string()));
}

tensor_spec tensor_samples::sample_input() const {
  if (named_) return row_of(sample_parts());
  const stored_tensor& t = train_.inputs[0];
  return {shape_of_sample(t), t.type == stored_type::i64 ? element::i64 : element::f32};
}

tensor_spec tensor_samples::sample_target() const {
  if (!train_.target) return {{}, element::f32};
  return {shape_of_sample(*train_.target), train_.target->type == stored_type::i64 ? element::i64 : element::f32};
}

std::vector<sample_part> tensor_samples::sample_parts() const {
  std::vector<sample_part> parts;
  for (std::size_t i = 0; named_ && i < inputs_.size(); ++i) {
    const stored_tensor& t = train_.inputs[i];
    parts.push_back({inputs_[i], std::string{to_string(t.type)}, width_of(t.type), shape_of_sample(t)});
  }
  return parts;
}

std::int64_t tensor_samples::classes() const {
  if (!train_.target) return 0;
  return sample_target().type == element::i64 ? train_.classes : sample_target().elements();
}

void tensor_samples::read_inputs(const opened& from, std::size_t index, std::span<std::byte> input) const {
  if (!named_ && from.inputs[0].type != stored_type::i64) {
    const auto values = static_cast<std::size_t>(sample_input().elements());
    return widen({from.inputs[0].type, sample_input().shape, sample_of(from.inputs[0], index)},
                 values_in<float>(input, values));
  }
  std::ranges::fill(input, std::byte{0});
  std::size_t begin = 0;
  for (const stored_tensor& t : from.inputs) {
    const auto bytes = sample_of(t, index);
    std::ranges::copy(bytes, input.subspan(begin).begin());
    begin += static_cast<std::size_t>(padded_part(static_cast<std::int64_t>(bytes.size())));
  }
}

std::size_t tensor_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  const opened& from = file(part);
  read_inputs(from, index, input);
  if (!from.target) {
    std::ranges::fill(target, std::byte{0});
    return 1;
  }
  std::ranges::copy(sample_of(*from.target, index), target.begin());
  const auto values = static_cast<std::size_t>(sample_target().elements());
  if (from.target->type != stored_type::i64) return values;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < values; ++i) counted += class_at(*from.target, index * values + i) != uncounted_target;
  return counted;
}

void tensor_samples::require_unchanged() const {
  for (const opened* const file : {&train_, &validation_})
    if (file->tensors) file->tensors->mapping().require_unchanged();
}

std::string tensor_samples::describe() const { return fmt::format("tensors {}", options_.train.string()); }

std::string tensor_samples::fingerprint() const {
  std::string text = fmt::format("tensors target \"{}\", inputs \"{}\"", options_.target, fmt::join(inputs_, "\" \""));
  for (const opened* const file : {&train_, &validation_})
    if (file->tensors) text += ", " + file->digest;
  return text;
}

std::shared_ptr<const data_source> open_tensors(const tensor_files& options, const sample_request& wants) {
  return std::make_shared<tensor_samples>(options, wants.inputs);
}

}  // namespace hydra
