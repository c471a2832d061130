#include "models/data/class_names.hpp"

#include "models/data/head_labels.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

namespace hydra {
namespace {

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Such as "Pos" beside "pos", which may be meant to be one.
void note_alike(const std::vector<std::string>& names, const std::string& data, std::vector<std::string>& notes) {
  std::map<std::string, std::string> first;
  for (const std::string& name : names)
    if (const auto other = first.emplace(in_small_letters(name), name).first; other->second != name)
      return notes.push_back(
          fmt::format("{}: \"{}\" and \"{}\" are two classes, though they differ only in the case of "
                      "letters: write one label if they are meant to be one",
                      data, shown(other->second), shown(name)));
}

}  // namespace

class_label label_from(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && std::to_string(number) == text) return number;
  return std::string{text};
}

std::string plain_text(const class_label& label) {
  const auto* number = std::get_if<std::int64_t>(&label);
  return number ? std::to_string(*number) : std::get<std::string>(label);
}

std::string to_string(const class_label& label) {
  const std::string text = plain_text(label);
  return std::holds_alternative<std::string>(label) ? fmt::format("\"{}\"", text) : text;
}

std::string list_of(const std::vector<class_label>& labels) {
  constexpr std::size_t most = 10;
  std::vector<std::string> first;
  for (const class_label& label : labels)
    if (first.size() < most) first.push_back(shown(to_string(label)));
  return fmt::format("{}{}", fmt::join(first, ", "), labels.size() > most ? ", ..." : "");
}

std::string to_string(const label_site& site) {
  if (site.line == 0) return site.file.string();
  return fmt::format("{}{}{}", site.file.string(), site.of_array ? ": record " : ":", site.line);
}

class_names::class_names(const std::vector<class_label>& given, const label_census& found,
                         const std::vector<std::string>& head)
    : labels_{given.empty() ? class_order(found, head) : given} {
  if (size() < 2)
    refuse(fmt::format("{} has {} different labels; at least 2 are needed",
                       found.empty() ? "labels" : found.begin()->second.file.string(), size()));
  for (std::size_t i = 0; i < labels_.size(); ++i)
    if (!classes_.emplace(labels_[i], i).second && !given.empty())
      refuse(fmt::format("labels: {} is given twice", shown(to_string(labels_[i]))));
  for (const class_label& label : labels_) names_.push_back(name_of(label));
  if (are_numbers_of(head, labels_)) names_ = head;
}

std::int64_t class_names::find(const class_label& label) const {
  const auto found = classes_.find(label);
  return found == classes_.end() ? -1 : found->second;
}

void class_names::check(const label_census& found) const {
  std::vector<class_label> known;
  for (const auto& [label, index] : classes_) known.push_back(label);
  for (const auto& [label, site] : found)
    if (find(label) < 0)
      refuse(fmt::format("{}: the label {} is not known; known are {}", to_string(site), shown(to_string(label)),
                         list_of(known)));
}

/// A text that looks like an integer which is also a class is quoted to distinguish it.
std::string class_names::name_of(const class_label& label) const {
  const auto* text = std::get_if<std::string>(&label);
  const bool unlike = text && (label_from(*text) == label || find(label_from(*text)) < 0);
  return unlike ? *text : to_string(label);
}

std::vector<std::string> class_names::notes(const label_census& training, const std::string& data) const {
  std::vector<class_label> missing;
  for (std::size_t i = 0; i < labels_.size(); ++i)
    if (!training.contains(labels_[i])) missing.emplace_back(names_[i]);
  std::vector<std::string> all;
  if (!missing.empty())
    all.push_back(fmt::format("{}: {} of the {} classes {} no sample to train on: {}", data, missing.size(), size(),
                              missing.size() == 1 ? "has" : "have", list_of(missing)));
  note_alike(names_, data, all);
  return all;
}

}  // namespace hydra
