#include "apps/workload/equal_trials.hpp"

#include "apps/workload/to_toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <map>
#include <vector>

namespace hydra::apps {

namespace {

constexpr std::size_t most_named = 4;

std::string without_name(value model) {
  std::get<value_table>(model.content).erase("name");
  return inline_toml(model);
}

/// "gpt-05 as gpt-02".
std::vector<std::string> repeated_models(const std::vector<model_entry>& models) {
  std::map<std::string, std::string> first;
  std::vector<std::string> all;
  for (const model_entry& m : models)
    if (const auto [same, is_new] = first.emplace(without_name(m.keys), m.description.name); !is_new)
      all.push_back(fmt::format("{} as {}", m.description.name, same->second));
  return all;
}

}  // namespace

std::optional<std::string> note_on_equal_trials(const workload& w) {
  std::vector<std::string> all = w.search ? repeated_models(w.models) : std::vector<std::string>{};
  if (all.empty()) return std::nullopt;
  const std::size_t count = all.size();
  if (count > most_named) all.resize(most_named);
  const std::string more = count > most_named ? fmt::format(", and {} more", count - most_named) : "";
  return fmt::format(
      "{} of the {} models of [search] have the same values as an earlier one and repeat its results: {}{}; draw "
      "fewer samples, vary more keys, or write the combinations as [model.grid]",
      count, w.models.size(), fmt::join(all, ", "), more);
}

}  // namespace hydra::apps
