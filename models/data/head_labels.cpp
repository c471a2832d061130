#include "models/data/head_labels.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace hydra {
namespace {

using label_list = std::vector<class_label>;

bool is_integer(const class_label& label) { return std::holds_alternative<std::int64_t>(label); }

/// Names of classes as these data write them: as integers or as texts.
label_list as_in_data(const std::vector<std::string>& names, const label_census& found) {
  const bool integers = std::ranges::any_of(found, [](auto& f) { return is_integer(f.first); });
  label_list labels;
  for (const std::string& name : names) labels.push_back(integers ? label_from(name) : class_label{name});
  return labels;
}

std::vector<std::string> numbers_below(std::size_t n) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < n; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

bool is_among(const label_list& labels, const class_label& label) {
  return std::ranges::find(labels, label) != labels.end();
}

bool has_all(const label_list& labels, const label_census& found) {
  return std::ranges::all_of(found, [&](auto& f) { return is_among(labels, f.first); });
}

bool has_default_names(const std::vector<std::string>& head) {
  for (std::size_t i = 0; i < head.size(); ++i)
    if (head[i] != fmt::format("LABEL_{}", i)) return false;
  return true;
}

/// Of the classes of ImageNet two are called "crane".
void refuse_ambiguous(const label_list& names, const label_census& found) {
  for (const auto& [label, site] : found)
    if (std::ranges::count(names, label) > 1)
      refuse(fmt::format(
          "{}: the label {} is the name of {} classes of the model's head (id2label in its config.json); give "
          "the classes' numbers as labels, or labels = [...] with another name for each",
          to_string(site), shown(to_string(label)), std::ranges::count(names, label)));
}

/// The integer that a text as "1" or "1.0" stands for.
std::optional<std::int64_t> integer_in(const class_label& label) {
  const auto* const text = std::get_if<std::string>(&label);
  double x = 0;
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, x);
  constexpr double most = 1e15;
  if (error != std::errc{} || stop != end || !(x > -most && x < most)) return std::nullopt;
  const auto integer = static_cast<std::int64_t>(x);
  return static_cast<double>(integer) == x ? std::optional{integer} : std::nullopt;
}

/// What is most often a mistake in data is a class only where the user says so.
void refuse_unclear(const label_census& found) {
  constexpr const char* named = "if that is a class, give all of them as `labels`";
  for (const auto& [label, site] : found) {
    const std::string where = to_string(site);
    if (label == class_label{std::string{}}) refuse(fmt::format("{}: the label is empty; {}", where, named));
    const bool unlabelled = label == class_label{std::int64_t{-1}} || label == class_label{std::int64_t{-100}};
    if (unlabelled && found.contains(std::int64_t{0}))
      refuse(fmt::format(
          "{}: the label {} is beside 0, 1, ...: so records without a label are marked; leave them out, or {}", where,
          shown(to_string(label)), named));
    const auto twin = integer_in(label);
    if (twin && found.contains(*twin))
      refuse(fmt::format("{}: the label {} is a text, and {} of {} a number: write them alike, or {}", where,
                         shown(to_string(label)), *twin, to_string(found.at(*twin)), named));
  }
}

[[noreturn]] void refuse_other(const label_census::value_type& found, const std::vector<std::string>& head) {
  refuse(fmt::format(
      "{}: the label {} is none of the {} classes of the model's head: {} (id2label in its config.json). Say "
      "which label is which class, labels = [...] in the order of the head's, or set head = \"classification\" "
      "in the chain for a new classifier",
      to_string(found.second), shown(to_string(found.first)), head.size(),
      list_of(label_list(head.begin(), head.end()))));
}

/// Some labels may be names of classes and others numbers: then the first that is not a name.
void refuse_others(const label_list& names, const label_list& numbers, const label_census& found,
                   const std::vector<std::string>& head) {
  for (const auto& each : found)
    if (!is_among(names, each.first) && !is_among(numbers, each.first)) refuse_other(each, head);
  for (const auto& each : found)
    if (!is_among(names, each.first)) refuse_other(each, head);
}

}  // namespace

label_list class_order(const label_census& found, const std::vector<std::string>& head) {
  const label_list names = as_in_data(head, found), numbers = as_in_data(numbers_below(head.size()), found);
  if (has_all(names, found)) {
    refuse_ambiguous(names, found);
    return names;
  }
  if (has_all(numbers, found)) return numbers;
  refuse_unclear(found);
  if (!has_default_names(head)) refuse_others(names, numbers, found, head);
  label_list sorted;
  for (const auto& [label, site] : found) sorted.push_back(label);
  return sorted;
}

bool are_numbers_of(const std::vector<std::string>& head, const label_list& labels) {
  const auto numbers = numbers_below(head.size());
  return !head.empty() && std::ranges::equal(labels, numbers, {}, plain_text);
}

}  // namespace hydra
