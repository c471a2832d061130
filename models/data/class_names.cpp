#include "models/data/class_names.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace hydra {

class_label label_from(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && std::to_string(number) == text) return number;
  return std::string{text};
}

std::string to_string(const class_label& label) {
  const auto* number = std::get_if<std::int64_t>(&label);
  return number ? std::to_string(*number) : fmt::format("\"{}\"", std::get<std::string>(label));
}

void refuse_empty_label(const label_census& found, const std::filesystem::path& file) {
  if (const auto empty = found.find(std::string{}); empty != found.end())
    throw fault_error{fault_code::bad_input,
                      fmt::format("{}:{}: the label is empty; if that is a class, give all of them as `labels`",
                                  file.string(), empty->second)};
}

class_names::class_names(const std::vector<class_label>& given, const label_census& found,
                         const std::filesystem::path& file) {
  for (const class_label& label : given)
    if (!classes_.emplace(label, size()).second)
      throw fault_error{fault_code::bad_input, fmt::format("labels: {} is given twice", to_string(label))};
  if (given.empty())
    for (const auto& [label, line] : found) classes_.emplace(label, size());
  if (size() < 2)
    throw fault_error{fault_code::bad_input, fmt::format("{} has {} different labels; at least 2 are "
                                                         "needed",
                                                         file.string(), size())};
}

std::int64_t class_names::find(const class_label& label) const {
  const auto found = classes_.find(label);
  return found == classes_.end() ? -1 : found->second;
}

void class_names::check(const label_census& found, const std::filesystem::path& file) const {
  constexpr std::size_t most = 10;
  for (const auto& [label, line] : found) {
    if (find(label) >= 0) continue;
    std::vector<std::string> known;
    for (const auto& [each, index] : classes_)
      if (known.size() < most) known.push_back(to_string(each));
    throw fault_error{fault_code::bad_input,
                      fmt::format("{}:{}: the label {} is not known; known are {}{}", file.string(), line,
                                  to_string(label), fmt::join(known, ", "), classes_.size() > most ? ", ..." : "")};
  }
}

/// A text that looks like an integer which is also a class is quoted to distinguish it.
std::string class_names::name_of(const class_label& label) const {
  const auto* text = std::get_if<std::string>(&label);
  const bool unlike = text && (label_from(*text) == label || find(label_from(*text)) < 0);
  return unlike ? *text : to_string(label);
}

std::vector<std::string> class_names::names() const {
  std::vector<std::string> all(classes_.size());
  for (const auto& [label, index] : classes_) all[static_cast<std::size_t>(index)] = name_of(label);
  return all;
}

}  // namespace hydra
