#include "apps/workload/grid.hpp"

#include "apps/workload/grid_name.hpp"
#include "apps/workload/other_tools.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace hydra::apps {

namespace {

constexpr std::size_t most_models = 10000;  // more is a mistake, and the names alone would fill the screen

/// One key of a grid with its values.
struct grid_axis {
  std::string key;  ///< as written
  std::string path;
  value_list values;
  place where;
};

void collect_leaves(const table_rules& rules, const std::string& prefix, std::vector<std::string>& paths) {
  const auto add = [&](const key_rule& rule) {
    if (rule.kind == value_kind::grid) return;
    if (rule.inner.empty() || rule.kind == value_kind::table_list) return paths.push_back(prefix + rule.name);
    for (const table_rules& inner : rule.inner) collect_leaves(inner, prefix + rule.name + ".", paths);
  };
  std::ranges::for_each(rules.keys, add);
  for (const table_variant& variant : rules.variants) std::ranges::for_each(variant.keys, add);
}

/// Dotted paths of all keys that a grid could vary (a list of tables as a whole); an option of two families counts
/// once.
std::vector<std::string> leaves(const table_rules& rules) {
  std::vector<std::string> paths;
  collect_leaves(rules, "", paths);
  std::ranges::sort(paths);
  const auto twice = std::ranges::unique(paths);
  paths.erase(twice.begin(), twice.end());
  return paths;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Turns the grid's nested tables into dotted paths, each with its list.
void flatten(const value_table& table, const std::string& prefix, value_table& flat) {
  for (const table_entry& e : table.entries) {
    const auto* inner = e.is.as<value_table>();
    if (inner)
      flatten(*inner, prefix + e.key + ".", flat);
    else
      flat.entries.push_back({prefix + e.key, e.where, e.is});
  }
}

[[noreturn]] void refuse_values(const place& where, const std::string& key, const value& v) {
  refuse(where, "model.grid." + key,
         fmt::format("{} is given, expected a list of one value or more, such as [1e-3, 3e-4]", describe(v)));
}

grid_axis read_axis(const table_entry& entry, const table_rules& rules) {
  const auto* values = entry.is.as<value_list>();
  if (!values || values->empty()) refuse_values(entry.is.where, entry.key, entry.is);
  for (const value& v : *values)
    if (v.as<value_table>()) refuse_values(v.where, entry.key, v);
  return {entry.key, resolve_grid_key(entry.where, entry.key, rules), *values, entry.where};
}

std::vector<grid_axis> read_axes(const value& grid, const table_rules& rules) {
  const auto* table = grid.as<value_table>();
  if (!table)
    refuse(grid.where, "model.grid",
           fmt::format("{} is given, expected {}", describe(grid), describe(*rules.find("grid"))));
  value_table flat;
  flatten(*table, "", flat);
  std::vector<grid_axis> axes;
  for (const table_entry& entry : flat.entries) {
    grid_axis axis = read_axis(entry, rules);
    if (const auto same = std::ranges::find(axes, axis.path, &grid_axis::path); same != axes.end())
      refuse(entry.where, "model.grid." + entry.key,
             fmt::format("\"{}\" is varied twice: as \"{}\" at {}, too", shown(axis.path), shown(same->key),
                         to_string(same->where)));
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::size_t combinations(const value& grid, const std::vector<grid_axis>& axes) {
  std::size_t n = 1;
  for (const grid_axis& axis : axes) {
    n *= axis.values.size();
    if (n > most_models) refuse(grid.where, "model.grid", fmt::format("more than {} models", most_models));
  }
  return n;
}

/// The choices of combination `index`: digits of a number whose last axis counts fastest.
std::vector<grid_choice> choices_of(const std::vector<grid_axis>& axes, std::size_t index) {
  std::vector<grid_choice> choices;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    choices.push_back({axis->key, axis->path, axis->values[index % axis->values.size()]});
    index /= axis->values.size();
  }
  std::ranges::reverse(choices);
  return choices;
}

value member(const value& model, const std::vector<grid_choice>& choices) {
  value made = model;
  auto& table = *made.as<value_table>();
  for (const grid_choice& c : choices) set_path(table, c.path, c.is);
  if (value* const name = table.find("name"); content_of<std::string>(name)) name->content = grid_name(*name, choices);
  return made;
}

/// Refuses a name with braces where there is no grid to fill them in.
void check_plain_name(const value_table& model) {
  const value* const name = model.find("name");
  const auto* const text = content_of<std::string>(name);
  if (text && text->find_first_of("{}") != std::string::npos)
    refuse(name->where, "model.name",
           fmt::format(
               "\"{}\" has braces, which stand for keys of [model.grid], and this model has none; add the grid, or "
               "leave the braces out",
               shown(*text)));
}

void expand(const value& model, const table_rules& rules, value_list& made) {
  const auto* table = model.as<value_table>();
  const value* const grid = table ? table->find("grid") : nullptr;
  if (!grid) {
    if (table) check_plain_name(*table);
    made.push_back(model);
    return;
  }
  const std::vector<grid_axis> axes = read_axes(*grid, rules);
  value plain = model;
  plain.as<value_table>()->erase("grid");
  const std::size_t n = combinations(*grid, axes);
  for (std::size_t i = 0; i < n; ++i) made.push_back(member(plain, choices_of(axes, i)));
}

/// "seed", or a leaf deeper down such as "optimizer.learning_rate".
std::vector<std::string> matches(std::string_view key, const std::vector<std::string>& paths) {
  if (std::ranges::count(paths, key) > 0) return {std::string{key}};
  std::vector<std::string> found;
  std::ranges::copy_if(paths, std::back_inserter(found),
                       [key](const std::string& path) { return last_part(path) == key; });
  return found;
}

}  // namespace

std::string resolve_grid_key(const place& where, std::string_view key, const table_rules& rules,
                             std::string_view table) {
  const std::string full = fmt::format("{}.{}", table, key);
  std::vector<std::string> paths = leaves(rules);
  std::erase(paths, "name");  // the names are made
  const std::vector<std::string> found = matches(key, paths);
  if (found.size() == 1) return found.front();
  if (found.size() > 1) refuse(where, full, fmt::format("ambiguous; write the path: {}", fmt::join(found, " or ")));
  if (const other_word* const other = find_other_word(last_part(std::string{key})))
    refuse(where, full, fmt::format("unknown key; {}", describe(*other)));
  if (key.find('.') == std::string_view::npos) std::ranges::transform(paths, paths.begin(), last_part);
  refuse(where, full, fmt::format("unknown key{}", known_instead(key, paths)));
}

void expand_grids(value_table& root, const table_rules& rules) {
  auto* list = content_of<value_list>(root.find("model"));
  if (!list) return;
  value_list made;
  for (const value& model : *list) expand(model, rules, made);
  *list = std::move(made);
}

std::optional<varied_key> varied_by_grid(const value& model, std::string_view path, const table_rules& rules) {
  const auto* table = model.as<value_table>();
  const value* const grid = table ? table->find("grid") : nullptr;
  const auto inside = [](std::string_view inner, std::string_view outer) {
    return inner == outer || inner.starts_with(std::string{outer} + ".");
  };
  if (!grid || inside(path, "grid")) return std::nullopt;
  for (const grid_axis& axis : read_axes(*grid, rules))
    if (path == axis.key || inside(path, axis.path) || inside(axis.path, path))
      return varied_key{axis.key, axis.path, axis.where};
  return std::nullopt;
}

bool replace_in_grid(value_table& grid, std::string_view key, const value& values, const table_rules& rules) {
  const std::string path = resolve_grid_key(values.where, key, rules);
  value_table flat;
  flatten(grid, "", flat);
  for (const table_entry& e : flat.entries) {
    if (resolve_grid_key(e.where, e.key, rules) != path) continue;
    if (grid.find(e.key))
      grid.set(e.key, values);  // a quoted key has dots of its own
    else
      set_path(grid, e.key, values);
    return true;
  }
  return false;
}

}  // namespace hydra::apps
