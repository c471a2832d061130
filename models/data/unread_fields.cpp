#include "models/data/unread_fields.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace hydra {
namespace {

/// Names may be data, too: a file can have as many as records.
constexpr std::size_t most_kept = 100, most_named = 10;

/// Where a record comes from. Not "split": records of a test set are not to be trained without a word.
constexpr std::array<std::string_view, 8> origins{"id", "_id", "idx", "index", "uuid", "source", "timestamp", "url"};

/// What a class is usually called, whatever the case.
bool is_class(std::string_view name) {
  constexpr std::array<std::string_view, 4> usual{"label", "labels", "target", "class"};
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::any_of(usual, [&](std::string_view u) { return std::ranges::equal(u, name, {}, {}, lower); });
}

}  // namespace

void unread_fields::add(std::string_view name) {
  const bool is_origin = std::ranges::count(origins, name.substr(name.rfind('.') + 1)) > 0;
  if (!is_origin && (names_.size() < most_kept || is_class(name)) && !names_.contains(name)) names_.emplace(name);
}

void unread_fields::add(const nlohmann::json& object, const std::vector<std::string>& read, std::string_view of) {
  for (const auto& [name, value] : object.items())
    if (!value.empty() && value != "" && std::ranges::count(read, name) == 0) add(std::string{of} + name);
}

/// A language model learns the texts as well, and nobody sees that it has not learnt the classes.
std::string unread_fields::way_to_classes(std::string_view class_key) const {
  const auto found = std::ranges::find_if(names_, is_class);
  if (class_key.empty() || found == names_.end()) return {};
  return fmt::format(
      "; \"{0}\" looks like the class of a text, which this model does not learn: for a classifier write "
      "{1} = \"{0}\" in [data.NAME] and chain = {{ family = \"bert\", head = \"classification\", ... }} or "
      "{{ from = \"BERT\", head = \"classification\" }} in its [[model]]",
      shown(*found), class_key);
}

std::vector<std::string> unread_fields::notes(const std::filesystem::path& file, std::string_view what,
                                              std::string_view class_key) const {
  std::vector<std::string> named;
  for (const std::string& name : names_)
    if (named.size() < most_named) named.push_back(fmt::format("\"{}\"", shown(name)));
  if (named.empty()) return {};
  return {fmt::format("{}: {} that are not read: {}{}{}", file.string(), what, fmt::join(named, ", "),
                      names_.size() > most_named ? ", ..." : "", way_to_classes(class_key))};
}

}  // namespace hydra
