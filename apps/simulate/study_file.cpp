#include "apps/simulate/study_file.hpp"

#include "actors/simulation/instance_file.hpp"
#include "actors/simulation/optimum.hpp"
#include "apps/simulate/policy_list.hpp"
#include "apps/simulate/recipe_keys.hpp"
#include "apps/workload/check.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/matching_files.hpp"
#include "apps/workload/parse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

key_rule names_rule(std::string name, std::string help, std::string fallback) {
  return {
      .name = std::move(name), .kind = value_kind::text_list, .help = std::move(help), .fallback = std::move(fallback)};
}

key_rule repeat_rule(std::string fallback) {
  return integer_rule("repeat", {1, 100000}, std::move(fallback),
                      "instances of each generated cell, with seeds from its `seed` on");
}

table_rules cell_rules() {
  table_rules rules{
      .keys = {{.name = "name", .help = "of the row", .required = true},
               {.name = "note", .help = "below the row's name", .fallback = "none"},
               names_rule("files", "instances; *, ? and [abc] stand for what they do in a shell", "none"),
               {.name = "family", .help = "of generated instances", .fallback = "none", .choices = family_names()},
               repeat_rule("the study's"),
               names_rule("policies", "of this row", "the study's")}};
  for (key_rule& rule : recipe_keys()) rules.keys.push_back(std::move(rule));
  return rules;
}

// -- files ------------------------------------------------------------------------------------------------------------

std::vector<fs::path> read_files(const value_table& table) {
  std::vector<fs::path> files;
  for (const value& v : sub_tables(table, "files")) {
    const auto& pattern = std::get<std::string>(v.content);
    auto found = matching_files(pattern);
    std::error_code ignored;
    std::erase_if(found, [&](const fs::path& file) { return !fs::exists(file, ignored); });
    if (found.empty())
      refuse(v.where, "cell.files",
             fmt::format("no file is called \"{}\" (relative paths start at the working directory)", shown(pattern)));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// -- parts ------------------------------------------------------------------------------------------------------------

std::vector<listed_policy> read_policies(const value& given, const std::string& path, policy_registry& registry) {
  std::vector<listed_policy> policies;
  for (const value& v : std::get<value_list>(given.content)) {
    const auto& text = std::get<std::string>(v.content);
    for (listed_policy& each : located(v.where, path, [&] { return parse_policies(text, registry); })) {
      if (std::ranges::count(policies, each.name, &listed_policy::name) > 0)
        refuse(v.where, path, fmt::format("\"{}\" is given twice", shown(each.name)));
      policies.push_back(std::move(each));
    }
  }
  if (policies.empty()) refuse(given.where, path, "at least one is needed");
  return policies;
}

/// What a cell inherits from its study.
struct study_defaults {
  std::uint32_t repeat = 1;
  std::vector<listed_policy> policies;
  policy_registry* registry = nullptr;
};

/// Exactly one of `files` and `family` is required.
void check_source(const value& cell, const value_table& table) {
  const value* const files = table.find("files");
  if (files && table.find("family"))
    refuse(files->where, "cell.files", "this cell has a family, too: one of them is expected");
  if (!files && !table.find("family")) refuse(cell.where, "cell.family", "missing, expected a family or `files`");
  if (!files) return;
  std::vector<key_rule> of_recipes = recipe_keys();
  of_recipes.push_back(repeat_rule(""));
  for (const key_rule& rule : of_recipes)
    if (const value* const v = table.find(rule.name))
      refuse(v->where, "cell." + rule.name, "this key is for generated instances, and this cell reads files");
}

/// Checks all instances before the first one is simulated.
void check_instances(const study_cell& cell) {
  if (cell.recipe) located(cell.where, "cell", [&] { validate(*cell.recipe); });
  for (const fs::path& file : cell.files) located(cell.where, "cell.files", [&] { load_instance(file); });
}

study_cell read_cell(const value& v, const study_defaults& defaults) {
  const auto& table = std::get<value_table>(v.content);
  check_source(v, table);
  study_cell cell{.name = {},
                  .note = {},
                  .where = v.where,
                  .files = read_files(table),
                  .recipe = {},
                  .repeat = defaults.repeat,
                  .policies = {}};
  assign(table, "name", cell.name);
  assign(table, "note", cell.note);
  assign(table, "repeat", cell.repeat);
  if (const value* const family = table.find("family"))
    cell.recipe = read_recipe(std::get<std::string>(family->content), table);
  check_instances(cell);
  const value* const own = table.find("policies");
  cell.policies = own ? read_policies(*own, "cell.policies", *defaults.registry) : defaults.policies;
  return cell;
}

std::vector<driver_options> read_drivers(const value_table& root) {
  driver_options options;
  if (const value* const v = root.find("completion"))
    options.completion =
        located(v->where, "completion", [&] { return parse_completion(std::get<std::string>(v->content)); });
  assign(root, "seed", options.seed);
  const value* const given = root.find("drivers");
  std::vector<driver_options> drivers;
  for (const value& v : sub_tables(root, "drivers")) {
    options.driver = located(v.where, "drivers", [&] { return parse_driver(std::get<std::string>(v.content)); });
    if (std::ranges::count(drivers, options.driver, &driver_options::driver) > 0)
      refuse(v.where, "drivers", fmt::format("\"{}\" is written twice", shown(std::get<std::string>(v.content))));
    drivers.push_back(options);
    if (options.driver == simulation_driver::actors) drivers.back().completion.reset();
  }
  if (given && drivers.empty()) refuse(given->where, "drivers", "at least one is needed");
  if (given && options.completion && std::ranges::count(drivers, simulation_driver::loop, &driver_options::driver) == 0)
    refuse(place_of(root, "completion", given->where), "completion",
           "is a rule of the loop, and only the actors run: for them a unit is complete when its outputs are written "
           "back");
  options.driver = simulation_driver::loop;
  return given ? drivers : std::vector{options};
}

/// All that the search would refuse, before the first instance is simulated.
void check_optimum(const study_cell& cell, const std::vector<driver_options>& drivers) {
  if (std::ranges::none_of(cell.policies, &listed_policy::is_optimum)) return;
  located(cell.where, "cell.policies", [&] {
    for (const driver_options& d : drivers) hydra::apps::check_optimum(cell.policies, d);
    for (std::size_t i = 0; i < count_instances(cell); ++i) require_searchable(instance_of(cell, i));
    return true;
  });
}

void check_names(const std::vector<study_cell>& cells) {
  for (auto c = cells.begin(); c != cells.end(); ++c)
    if (std::any_of(cells.begin(), c, [&](const study_cell& other) { return other.name == c->name; }))
      refuse(c->where, "cell.name", fmt::format("\"{}\" is used twice; names are unique", shown(c->name)));
}

}  // namespace

std::vector<std::string> study::policies() const {
  std::vector<std::string> names;
  for (const study_cell& cell : cells)
    for (const listed_policy& p : cell.policies)
      if (std::ranges::count(names, p.name) == 0) names.push_back(p.name);
  return names;
}

table_rules study_rules() {
  return {.keys = {{.name = "name", .help = "of the study", .fallback = "the file's name"},
                   {.name = "note", .help = "at the top of the page", .fallback = "none"},
                   names_rule("policies", "names, or \"all\"", "all that choose without chance"),
                   names_rule("drivers", "\"loop\", \"actors\"", "loop"),
                   {.name = "completion", .help = "of the loop", .fallback = "ended", .choices = {"ended", "landed"}},
                   repeat_rule("1"),
                   integer_rule("seed", {.least = 0}, "0", "of policies that choose by chance"),
                   {.name = "cell",
                    .kind = value_kind::table_list,
                    .help = "a row",
                    .required = true,
                    .inner = {cell_rules()}}}};
}

study read_study(const fs::path& file) { return parse_study(read_text(file, text_kind::settings), file.string()); }

study parse_study(std::string_view text, const std::string& name) {
  const value_table root = parse_toml(text, name);
  check_table({root, {std::make_shared<std::string>(name), 1}, ""}, study_rules());
  study s{.name = fs::path{name}.stem().string(), .note = {}, .drivers = read_drivers(root), .cells = {}};
  assign(root, "name", s.name);
  assign(root, "note", s.note);
  policy_registry registry;
  const value* const named = root.find("policies");
  study_defaults defaults{
      .policies = named ? read_policies(*named, "policies", registry) : parse_policies("", registry),
      .registry = &registry};
  assign(root, "repeat", defaults.repeat);
  for (const value& v : sub_tables(root, "cell")) s.cells.push_back(read_cell(v, defaults));
  check_names(s.cells);
  for (const study_cell& cell : s.cells) check_optimum(cell, s.drivers);
  return s;
}

schedule_instance instance_of(const study_cell& cell, std::size_t i) {
  if (!cell.recipe) return located(cell.where, "cell.files", [&] { return load_instance(cell.files.at(i)); });
  instance_recipe recipe = *cell.recipe;
  recipe.seed += i;
  return generate_at(recipe, cell.where, "cell");
}

std::size_t count_instances(const study_cell& cell) { return cell.recipe ? cell.repeat : cell.files.size(); }

}  // namespace hydra::apps
