#include "apps/workload/expand_search.hpp"

#include "apps/workload/check.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/grid.hpp"
#include "apps/workload/grid_name.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/search_keys.hpp"
#include "apps/workload/search_space.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace hydra::apps {

namespace {

/// The checked [search]; null without one.
value_table* checked_search(value_table& root) {
  auto* const table = content_of<value_table>(root.find("search"));
  if (table) check_table({*table, root.find("search")->where, "search."}, search_rules());
  return table;
}

/// The tables of [[model]]; whatever else is there is refused later.
std::vector<value_table*> tables_of_models(value_table& root) {
  auto* const list = content_of<value_list>(root.find("model"));
  std::vector<value_table*> tables;
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if (auto* const table = (*list)[i].as<value_table>()) tables.push_back(table);
  return tables;
}

void add_evaluations(value_table& root, const value_table& search) {
  const value* const interval = evaluation_key(search);
  if (!interval) return;
  for (value_table* const model : tables_of_models(root))
    if (!find_path(*model, "validate.every_steps")) set_path(*model, "validate.every_steps", *interval);
}

/// The [[model]] that is drawn; refuses if that is not one.
value& drawn_model(value_table& root, const value& samples) {
  const std::vector<value_table*> tables = tables_of_models(root);
  if (tables.size() != 1)
    refuse(samples.where, "search.samples",
           fmt::format("models are drawn from one [[model]], and there are {}; keep one, or leave samples and "
                       "[search.space] out: then the search chooses among the models that are there",
                       tables.size()));
  if (tables.front()->find("grid"))
    refuse(place_of(*tables.front(), "grid", samples.where), "model.grid",
           "the model is drawn by [search]; write the lists there, as key = { choice = [...] }, or leave samples and "
           "[search.space] out: then the search chooses among the models of the grid");
  return root.find("model")->as<value_list>()->front();
}

value drawn_value(const searched_axis& axis, std::uint64_t seed, std::size_t trial) {
  portable_random random{seed_for(seed, axis.draws.key, trial)};
  value v = *parse_value(draw(axis.draws, random));
  move_to(v, axis.where);
  return v;
}

/// "gpt-{batch_size}" by the values, "gpt" by a number from 1 on, as wide as the last one's.
std::string trial_name(const value& name, const std::vector<grid_choice>& choices, std::size_t trial,
                       std::size_t trials) {
  const auto& text = *name.as<std::string>();
  if (text.find_first_of("{}") != std::string::npos) return grid_name(name, choices);
  return fmt::format("{}-{:0{}}", text, trial + 1, fmt::formatted_size("{}", trials));
}

void refuse_equal_names(const value_list& models) {
  std::vector<std::string> names;
  for (const value& model : models) {
    const value* const name = model.as<value_table>()->find("name");
    const auto* const text = content_of<std::string>(name);
    if (text && std::ranges::count(names, *text) > 0)
      refuse(name->where, "model.name",
             fmt::format("\"{}\" is drawn twice; leave the braces out, and each name gets a number", shown(*text)));
    if (text) names.push_back(*text);
  }
}

value_list draw_models(const value& model, const std::vector<searched_axis>& axes, std::uint64_t seed, std::size_t n) {
  value_list made;
  for (std::size_t trial = 0; trial < n; ++trial) {
    std::vector<grid_choice> choices;
    for (const searched_axis& axis : axes)
      choices.push_back({axis.key, axis.draws.key, drawn_value(axis, seed, trial)});
    made.push_back(model);
    auto& table = *made.back().as<value_table>();
    for (const grid_choice& c : choices) set_path(table, c.path, c.is);
    if (value* const name = table.find("name"); content_of<std::string>(name))
      name->content = trial_name(*name, choices, trial, n);
  }
  return made;
}

}  // namespace

void expand_search(value_table& root, const table_rules& models) {
  value_table* const search = checked_search(root);
  if (!search) return;
  add_evaluations(root, *search);
  const value* const samples = search->find("samples");
  if (!samples) return;
  const value* const space = search->find("space");
  if (!space)
    refuse(samples->where, "search.samples",
           "there is no [search.space] to draw from; add it, such as learning_rate = { log_uniform = [1e-5, 1e-3] }");
  const value model = drawn_model(root, *samples);
  std::uint64_t seed = 0;
  assign(*search, "seed", seed);
  value_list drawn = draw_models(model, read_space(*space, models), seed, to<std::size_t>(*samples));
  refuse_equal_names(drawn);
  *root.find("model")->as<value_list>() = std::move(drawn);
  search->erase("samples");
}

std::optional<place> varied_by_search(const value_table& root, std::string_view path, const table_rules& models) {
  const value* const samples = find_path(root, "search.samples");
  const value* const space = find_path(root, "search.space");
  if (!samples || !space) return std::nullopt;
  const table_rules rules = search_rules();
  check_space({*space, *find_rule(rules, rules.variant("random"), "space"), "search.space"});
  const auto inside = [](std::string_view inner, std::string_view outer) {
    return inner == outer || inner.starts_with(std::string{outer} + ".");
  };
  for (const searched_axis& axis : read_space(*space, models))
    if (path == axis.key || inside(path, axis.draws.key) || inside(axis.draws.key, path)) return axis.where;
  return std::nullopt;
}

}  // namespace hydra::apps
