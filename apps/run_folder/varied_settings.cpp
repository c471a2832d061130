#include "apps/run_folder/varied_settings.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/to_toml.hpp"

#include <algorithm>
#include <utility>

namespace hydra::apps {

namespace {

using setting = std::pair<std::string, std::string>;  ///< a path and its value

/// All values in the table but the model's name.
void collect_settings(const value_table& table, const std::string& prefix, std::vector<setting>& all) {
  for (const table_entry& e : table.entries) {
    const std::string path = prefix + e.key;
    if (const auto* const inner = e.is.as<value_table>())
      collect_settings(*inner, path + ".", all);
    else if (path != "name")
      all.emplace_back(path, inline_toml(e.is));
  }
}

std::string value_at(const std::vector<setting>& of_model, const std::string& path) {
  const auto found = std::ranges::find(of_model, path, &setting::first);
  return found == of_model.end() ? "-" : found->second;
}

}  // namespace

varied_settings varied_in(const value_table& workload) {
  std::map<std::string, std::vector<setting>> models;
  std::vector<std::string> paths;
  for (const value& m : sub_tables(workload, "model")) {
    const auto& table = std::get<value_table>(m.content);
    auto& own = models[to<std::string>(*table.find("name"))];
    collect_settings(table, "", own);
    for (const setting& s : own)
      if (std::ranges::count(paths, s.first) == 0) paths.push_back(s.first);
  }
  varied_settings varied;
  for (const std::string& path : paths) {
    const auto is_first = [&](const auto& m) {
      return value_at(m.second, path) == value_at(models.begin()->second, path);
    };
    if (!std::ranges::all_of(models, is_first)) varied.keys.push_back(path);
  }
  for (const auto& [name, own] : models)
    for (const std::string& path : varied.keys) varied.values[name].push_back(value_at(own, path));
  return varied;
}

}  // namespace hydra::apps
