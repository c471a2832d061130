#include "models/data/unread_fields.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace hydra {
namespace {

/// Names may be data, too: a file can have as many as records.
constexpr std::size_t most_kept = 100, most_named = 10;

/// Where a record comes from. Not "split": records of a test set are not to be trained without a word.
constexpr std::array<std::string_view, 8> origins{"id", "_id", "idx", "index", "uuid", "source", "timestamp", "url"};

}  // namespace

void unread_fields::add(std::string_view name) {
  const bool is_origin = std::ranges::count(origins, name.substr(name.rfind('.') + 1)) > 0;
  if (!is_origin && names_.size() < most_kept && !names_.contains(name)) names_.emplace(name);
}

void unread_fields::add(const nlohmann::json& object, const std::vector<std::string>& read, std::string_view of) {
  for (const auto& [name, value] : object.items())
    if (!value.empty() && value != "" && std::ranges::count(read, name) == 0) add(std::string{of} + name);
}

std::vector<std::string> unread_fields::notes(const std::filesystem::path& file, std::string_view what) const {
  std::vector<std::string> named;
  for (const std::string& name : names_)
    if (named.size() < most_named) named.push_back(fmt::format("\"{}\"", shown(name)));
  if (named.empty()) return {};
  return {fmt::format("{}: {} that are not read: {}{}", file.string(), what, fmt::join(named, ", "),
                      names_.size() > most_named ? ", ..." : "")};
}

}  // namespace hydra
