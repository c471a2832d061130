#include "apps/workload/varied_keys.hpp"

#include "apps/workload/expand_search.hpp"
#include "apps/workload/grid.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

struct given_key {
  std::string path;
  place where;
};

void collect_given(const value_table& table, const std::string& prefix, std::vector<given_key>& found) {
  for (const table_entry& e : table.entries) {
    if (const auto* const inner = e.is.as<value_table>())
      collect_given(*inner, prefix + e.key + ".", found);
    else
      found.push_back({prefix + e.key, e.where});
  }
}

std::vector<given_key> given_beside_grid(value_table model) {
  model.erase("grid");
  std::vector<given_key> found;
  collect_given(model, "", found);
  return found;
}

std::optional<std::string> note_on_key(const value_table& root, const value& model, const given_key& key,
                                       const table_rules& rules) {
  const auto by_grid = varied_by_grid(model, key.path, rules);
  const auto varied = by_grid ? std::optional{by_grid->where} : varied_by_search(root, key.path, rules);
  if (!varied) return std::nullopt;
  return fmt::format("{}: model.{}: is not used, because the {} varies it at {}", to_string(key.where), key.path,
                     by_grid ? "grid" : "search", to_string(*varied));
}

}  // namespace

std::vector<std::string> notes_on_varied_keys(const value_table& root, const table_rules& models) {
  std::vector<std::string> notes;
  const auto* const list = content_of<value_list>(root.find("model"));
  for (const value& model : list ? *list : value_list{}) {
    const auto* const table = model.as<value_table>();
    for (const given_key& key : table ? given_beside_grid(*table) : std::vector<given_key>{})
      if (auto note = note_on_key(root, model, key, models)) notes.push_back(std::move(*note));
  }
  return notes;
}

}  // namespace hydra::apps
